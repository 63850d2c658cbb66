import { describe, expect, test } from "vitest";
import { createEventLog } from "./event-log.ts";

/** A database that answers when the test says so. */
const slowDatabase = () => {
  const asked: { readonly values: readonly unknown[]; readonly answer: (id: string | Error) => void }[] = [];
  const query = <Row>(_statement: unknown, values: readonly unknown[] = []): Promise<Row[]> =>
    new Promise((resolve, reject) => {
      const row = (id: string) => ({ xid: "7", id, subject: "s", headers: "{}", payload: "{}" }) as Row;
      const answer = (id: string | Error) => (id instanceof Error ? reject(id) : resolve([row(id)]));
      asked.push({ values, answer });
    });
  return { asked, log: createEventLog({ query }) };
};
const breath = () => new Promise((resolve) => setImmediate(resolve));

describe("reads of the event log", () => {
  test("readers at one place share a read, and only one that began after they asked", async () => {
    const { asked, log } = slowDatabase();
    const first = log.read("demo", "1-0");
    const others = Array.from({ length: 500 }, () => log.read("demo", "1-0"));
    await breath();
    expect(asked).toHaveLength(1);
    asked[0]?.answer("1");
    expect(await first).toMatchObject([{ position: "7-1" }]);
    await breath();
    expect(asked).toHaveLength(2);
    asked[1]?.answer("2");
    for (const page of await Promise.all(others)) expect(page).toMatchObject([{ position: "7-2" }]);
    const late = log.read("demo", "1-0");
    await breath();
    asked[2]?.answer("3");
    expect(await late).toMatchObject([{ position: "7-3" }]);
  });

  test("other projects, places and lengths are read by themselves, and a failure is only theirs who asked for it", async () => {
    const { asked, log } = slowDatabase();
    const failed = log.read("demo", "1-0");
    const waiting = log.read("demo", "1-0");
    const rest = [log.read("shop", "1-0"), log.read("demo", "2-0"), log.read("demo", "1-0", 1)];
    await breath();
    expect(asked.map(({ values }) => values.join(" "))).toEqual([
      "demo 1 0 200",
      "shop 1 0 200",
      "demo 2 0 200",
      "demo 1 0 1",
    ]);
    for (const { answer } of asked.slice(1)) answer("1");
    await Promise.all(rest);
    asked[0]?.answer(new Error("away"));
    await expect(failed).rejects.toThrow("away");
    await breath();
    asked[4]?.answer("5");
    expect(await waiting).toMatchObject([{ position: "7-5" }]);
  });
});
