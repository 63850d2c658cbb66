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
  doorbell.ring("queued");
  doorbell.ring("settled");
  doorbell.ring("messages");
  doorbell.ring("settled");
  expect(line.asked).toEqual([["toolplane_queued"]]);
  await line.answer();
  expect(line.asked.slice(1)).toEqual([["toolplane_settled", "toolplane_messages"]]);
  await line.answer();
  expect(line.asked).toHaveLength(2);
  expect(doorbell.stats().sent).toBe(3);
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
    ["the connection to the database is lost; it is tried again until it is back", "connected to the database again"],
  ]);
  await doorbell.close();
});
