import { EventEmitter } from "node:events";
import type pg from "pg";
import { expect, test } from "vitest";
import { systemClock } from "../ports/clock.ts";
import { silentLog } from "../ports/log.ts";
import { createPostgresDoorbell } from "./postgres-doorbell.ts";

/** A connection that answers when the test says so, and counts what it was given meanwhile. */
class SlowLine extends EventEmitter {
  readonly processID = 1;
  readonly asked: unknown[] = [];
  readonly #answers: (() => void)[] = [];

  query(statement: { readonly values?: readonly unknown[] } | string): Promise<void> {
    if (typeof statement === "string") return Promise.resolve();
    this.asked.push(statement.values?.[0]);
    return new Promise((resolve) => {
      this.#answers.push(resolve);
    });
  }

  async answer(): Promise<void> {
    this.#answers.shift()?.();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }

  end(): Promise<void> {
    this.emit("end");
    return Promise.resolve();
  }
}

test("[ARCH-6-29] the driver is given one statement at a time; what rang meanwhile leaves together", async () => {
  const line = new SlowLine();
  const connect = () => Promise.resolve(line as unknown as pg.Client);
  const doorbell = createPostgresDoorbell({ db: { connect }, clock: systemClock, log: silentLog });
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  expect(doorbell.stats().connected).toBe(true);
  expect(line.asked).toEqual([["toolplane_hello"]]);
  doorbell.ring("queued");
  doorbell.ring("settled");
  doorbell.ring("messages");
  doorbell.ring("settled");
  await Promise.resolve();
  expect(line.asked).toHaveLength(1);
  await line.answer();
  expect(line.asked.slice(1)).toEqual([["toolplane_queued", "toolplane_settled", "toolplane_messages"]]);
  await line.answer();
  expect(line.asked).toHaveLength(2);
  expect(doorbell.stats().sent).toBe(4);
  await doorbell.close();
});

/** A process at one end of a line; the test is all the others. `wait` ends the time for their answers. */
const openLine = async () => {
  const line = new SlowLine();
  const connect = () => Promise.resolve(line as unknown as pg.Client);
  let over = (): void => {};
  const sleep = (_ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      over = resolve;
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });
  const doorbell = createPostgresDoorbell({ db: { connect }, clock: { ...systemClock, sleep }, log: silentLog });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  const say = async (word: string): Promise<void> => {
    line.emit("notification", { channel: `toolplane_${word}`, processId: 2 });
    await settle();
  };
  await settle();
  await line.answer();
  return { line, doorbell, say, settle, wait: () => over() };
};

test("a process that nobody answers rings in its own house only, until it hears somebody", async () => {
  const { line, doorbell, say, settle, wait } = await openLine();
  const heard: string[] = [];
  doorbell.listen("inbox", (from) => heard.push(from));
  wait();
  await settle();
  expect(doorbell.stats().alone).toBe(true);
  doorbell.ring("inbox");
  await settle();
  expect([heard, line.asked]).toEqual([["here"], [["toolplane_hello"]]]);
  await say("hello");
  // What it kept to itself is rung now, and what the other may have kept is looked for.
  expect([doorbell.stats().alone, heard]).toEqual([false, ["here", "elsewhere"]]);
  expect(line.asked[1]).toEqual(expect.arrayContaining(["toolplane_present", "toolplane_inbox", "toolplane_queued"]));
  await line.answer();
  doorbell.ring("settled");
  await settle();
  expect(line.asked[2]).toEqual(["toolplane_settled"]);
  await line.answer();
  await doorbell.close();
});

test("a process that is answered goes on ringing, also when the answer comes late", async () => {
  const { line, doorbell, say, settle, wait } = await openLine();
  wait();
  await settle();
  await say("present");
  expect(doorbell.stats().alone).toBe(false);
  expect(line.asked[1]).toEqual(expect.arrayContaining(["toolplane_inbox", "toolplane_messages"]));
  await line.answer();
  await doorbell.close();
  const prompt = await openLine();
  await prompt.say("present");
  prompt.wait();
  await prompt.settle();
  expect([prompt.doorbell.stats().alone, prompt.line.asked]).toEqual([false, [["toolplane_hello"]]]);
  await prompt.doorbell.close();
});

test("a process that has company answers a newcomer and looks, and sends no ring that it has sent before", async () => {
  const { line, doorbell, say } = await openLine();
  await say("present");
  const heard: string[] = [];
  doorbell.listen("inbox", (from) => heard.push(from));
  await say("hello");
  expect([heard, line.asked]).toEqual([["elsewhere"], [["toolplane_hello"], ["toolplane_present"]]]);
  await line.answer();
  await doorbell.close();
});

test("a database that is away is one line of the log, and one when it is back", async () => {
  const lines: string[] = [];
  const log = { ...silentLog, info: (text: string) => lines.push(text), warn: (text: string) => lines.push(text) };
  const line = new SlowLine();
  let attempts = 0;
  const connect = () =>
    ++attempts < 4 ? Promise.reject(new Error("refused")) : Promise.resolve(line as unknown as pg.Client);
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  const doorbell = createPostgresDoorbell({ db: { connect }, clock, log });
  await expect.poll(() => doorbell.stats().connected).toBe(true);
  expect([attempts, lines]).toEqual([
    4,
    [
      "the connection that hears the database's bells is lost; this process connects again until it succeeds",
      "the connection that hears the database's bells is back",
    ],
  ]);
  await line.answer();
  await doorbell.close();
});
