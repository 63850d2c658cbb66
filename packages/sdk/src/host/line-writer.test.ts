import { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createLineWriter } from "./line-writer.ts";

interface Sink {
  readonly output: Writable;
  /** What was handed over in one piece each. */
  readonly pieces: string[];
  /** Lets the piece that is on its way arrive. */
  readonly arrive: () => void;
}

const createSink = (highWaterMark = 1024): Sink => {
  const pieces: string[] = [];
  const waiting: (() => void)[] = [];
  const output = new Writable({
    highWaterMark,
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      pieces.push(chunk);
      waiting.push(done);
    },
  });
  return { output, pieces, arrive: () => waiting.shift()?.() };
};

const LONG = "l".repeat(256 * 1024);

describe("createLineWriter", () => {
  test("what is written in one turn leaves in one piece", async () => {
    const { output, pieces } = createSink();
    const writer = createLineWriter(output);
    writer.write("a\n");
    await Promise.resolve();
    writer.writeAnswer("b\n");
    await nextTurn();
    expect(pieces).toEqual(["a\nb\n"]);
  });

  test("answers that are expected leave before the turn is over, still in one piece", async () => {
    const { output, pieces } = createSink();
    const writer = createLineWriter(output);
    writer.expectAnswers();
    writer.writeAnswer("a\n");
    await Promise.resolve();
    writer.writeAnswer("b\n");
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(pieces).toEqual(["a\nb\n"]);
    writer.writeAnswer("c\n");
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(pieces).toHaveLength(1);
  });

  test("[HOST-3-11] HW1 while the parent does not read nothing more is handed over", async () => {
    const { output, pieces, arrive } = createSink(4);
    const writer = createLineWriter(output);
    writer.write("12345\n");
    await nextTurn();
    writer.write("a\n");
    writer.write("b\n");
    await nextTurn();
    expect([pieces, writer.waiting()]).toEqual([["12345\n"], 10]);
    arrive();
    await nextTurn();
    await nextTurn();
    expect(pieces).toEqual(["12345\n", "a\nb\n"]);
  });

  test("[HOST-3-12] HW2 HW3 a short line overtakes long answers that wait, and they are not starved", async () => {
    const { output, pieces, arrive } = createSink();
    const writer = createLineWriter(output);
    for (const name of ["1", "2", "3"]) writer.writeAnswer(`${name}${LONG}\n`);
    await nextTurn();
    writer.write("short\n");
    for (let turn = 0; turn < 4; turn++) {
      arrive();
      await nextTurn();
      await nextTurn();
    }
    expect(pieces.map((piece) => piece.slice(0, 5))).toEqual(["1llll", "short", "2llll", "3llll"]);
  });

  test("[HOST-1-H3] a long part is not overtaken: its answer follows it", async () => {
    const { output, pieces, arrive } = createSink(10 * LONG.length);
    const writer = createLineWriter(output);
    writer.write(`part${LONG}\n`);
    writer.writeAnswer("answer\n");
    await nextTurn();
    arrive();
    await nextTurn();
    expect(pieces).toEqual([`part${LONG}\n`, "answer\n"]);
  });

  test("many short lines leave in pieces that a pipe takes at once, none lost, in order", async () => {
    const { output, pieces, arrive } = createSink(1 << 20);
    const writer = createLineWriter(output);
    const lines = Array.from({ length: 100 }, (_, index) => `${index}${"x".repeat(10_000)}\n`);
    for (const line of lines) writer.write(line);
    for (let turn = 0; turn < 100; turn++) {
      await nextTurn();
      arrive();
    }
    expect(pieces.join("")).toBe(lines.join(""));
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(48 * 1024);
    expect(writer.waiting()).toBe(0);
  });

  test("below resolves when enough has left, and when nobody will read any more", async () => {
    const { output, arrive } = createSink(4);
    const writer = createLineWriter(output);
    await writer.below(1);
    writer.write("12345\n");
    const empty = writer.below(1);
    await nextTurn();
    arrive();
    await empty;
    writer.write("12345\n");
    const never = writer.below(1);
    output.destroy();
    await never;
    writer.write("nobody\n");
    await writer.below(1);
  });
});
