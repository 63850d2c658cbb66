// stderr, log events and diagnostics: bounded, scrubbed, on one line.

import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { createBorder } from "./border.ts";
import { createDiagnostics, excerpt } from "./diagnostics.ts";
import type { HostDiagnostic } from "./host.ts";
import { createHostLimits } from "./host-limits.ts";
import { createHostWords } from "./host-log.ts";
import type { Timers } from "./timers.ts";

/** Time that stands until it is moved. */
const createStill = (): Timers & { move(ms: number): void } => {
  let now = 0;
  const waits: { at: number; run: () => void }[] = [];
  const after = (ms: number, run: () => void) => {
    waits.push({ at: now + ms, run });
    return () => undefined;
  };
  return {
    now: () => now,
    after,
    afterQuietly: after,
    move: (ms) => {
      now += ms;
      for (const wait of waits.splice(0)) wait.run();
    },
  };
};

const open = (limits = {}) => {
  const lines: string[] = [];
  const say = (message: string): void => {
    lines.push(message);
  };
  const timers = createStill();
  const log = { info: say, warn: say, error: say };
  const border = createBorder(new Map([["K", "hunter2"]]));
  const words = createHostWords("text", createHostLimits(limits), { log, timers, border });
  return { lines, timers, log, border, words };
};

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const feed = async (words: ReturnType<typeof open>["words"], ...chunks: readonly string[]): Promise<Readable> => {
  const stream = new Readable({ read: () => undefined });
  words.follow(stream, 7);
  for (const chunk of chunks) stream.push(Buffer.from(chunk));
  await tick();
  return stream;
};

describe("stderr", () => {
  test("[SEC-9-1] [HOST-4-L3] lines become log lines and are kept, without secrets", async () => {
    const { lines, words } = open();
    await feed(words, "one\r\ntwo with hun", "ter2 in it\n");
    expect(lines).toEqual(["host text: one", "host text: two with [redacted K] in it"]);
    expect(words.last()).toEqual(["one", "two with [redacted K] in it"]);
  });

  test("[SEC-9-1] [HOST-4-L3] a long line is cut, and only the last lines are kept", async () => {
    const { lines, words } = open();
    await feed(words, `${"x".repeat(50_000)}\n`);
    expect(lines[0]?.length).toBeLessThan(1_100);
    expect(words.last()[0]).toHaveLength(500);
    await feed(words, "line\n".repeat(30));
    expect(words.last()).toHaveLength(20);
  });

  test("[HOST-4-L3] so many lines per second, and the rest is counted", async () => {
    const { lines, timers, words } = open({ stderrLinesPerSecond: 3 });
    await feed(words, "x\n".repeat(10));
    expect(lines).toHaveLength(3);
    timers.move(1_000);
    await feed(words, "y\n");
    expect(lines.slice(3)).toEqual(["host text: 7 lines of its log were left out", "host text: y"]);
  });

  test("[HOST-4-L3] so many bytes per second, then the host waits until the second is over", async () => {
    const { timers, words } = open({ stderrBytesPerSecond: 1_000 });
    const stream = await feed(words, "z".repeat(999));
    expect(stream.isPaused()).toBe(false);
    stream.push(Buffer.from("z"));
    await tick();
    expect(stream.isPaused()).toBe(true);
    timers.move(1_000);
    expect(stream.isPaused()).toBe(false);
  });

  test("[HOST-5-6] log events keep their level; fields are text without secrets", () => {
    const { lines, words, log } = open();
    const fields: unknown[] = [];
    log.info = (message: string, ...more: unknown[]) => {
      lines.push(message);
      fields.push(...more);
    };
    words.say({ level: "debug", message: "hunter2", fields: { key: "hunter2" } }, 7);
    expect(lines).toEqual(["host text: [redacted K]"]);
    expect(fields).toEqual([{ pid: 7, hostLevel: "debug", fields: '{"key":"[redacted K]"}' }]);
  });
});

describe("diagnostics", () => {
  test("[HOST-4-L4] so many of a kind in a while, then they are counted", () => {
    const { log, timers, border } = open();
    const heard: HostDiagnostic[] = [];
    const diagnostics = createDiagnostics("text", { log, timers, border, onDiagnostic: (said) => heard.push(said) });
    for (let i = 0; i < 50; i += 1) diagnostics.report("stray_output", "it wrote", 7, `line ${i}`);
    diagnostics.report("unknown_id", "an id", 7);
    expect(heard).toHaveLength(21);
    timers.move(10_000);
    diagnostics.report("stray_output", "it wrote", 7, "more");
    expect(heard.at(-1)).toEqual({ kind: "stray_output", message: "it wrote: more", pid: 7, suppressed: 30 });
  });

  test.each([
    ["short", "short"],
    ["x".repeat(300), `${"x".repeat(200)}...`],
    ["a\nb\u0007c\u007f", "a b c "],
    [`${"p".repeat(197)}hunter2`, `${"p".repeat(197)}[re...`],
    ["\ud800", "\ufffd"],
  ])("an excerpt is short, plain and without secrets", (text, expected) => {
    expect(excerpt(text, createBorder(new Map([["K", "hunter2"]])))).toBe(expected);
  });
});

test("[INV-I8-S3] a secret where a text is cut leaves no half behind", async () => {
  const { lines, words } = open();
  await feed(words, `${"x".repeat(1_020)}hunter2${"y".repeat(10_000)}\n`);
  words.say({ level: "info", message: `${"x".repeat(8_190)}hunter2`, fields: { a: `${"x".repeat(8_182)}hunter2` } }, 1);
  expect(lines).toHaveLength(2);
  expect(lines.join("")).not.toContain("hu");
});
