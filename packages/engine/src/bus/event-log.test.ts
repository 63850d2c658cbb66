import { describe, expect, test } from "vitest";
import { createEventLog } from "./event-log.ts";

/** A database that answers when the test says so. */
const slowDatabase = () => {
  const asked: { readonly values: readonly unknown[]; readonly answer: (id: string | Error) => void }[] = [];
  const query = <Row>(_statement: unknown, values: readonly unknown[] = []): Promise<Row[]> =>
    new Promise((resolve, reject) => {
      const row = (id: string) =>
        ({ id, part: 0, subject: "s", headers: "{}", payload: "{}", listed: [], unlisted: "7" }) as Row;
      const answer = (id: string | Error) => (id instanceof Error ? reject(id) : resolve([row(id)]));
      asked.push({ values, answer });
    });
  return { asked, log: createEventLog({ query }) };
};
const breath = () => new Promise((resolve) => setImmediate(resolve));

describe("reads of the event log", () => {
  test("readers at one place share a read, and only one that began after they asked", async () => {
    const { asked, log } = slowDatabase();
    const first = log.read("demo", "1");
    const others = Array.from({ length: 500 }, () => log.read("demo", "1"));
    await breath();
    expect(asked).toHaveLength(1);
    asked[0]?.answer("11");
    expect(await first).toMatchObject([{ position: "11~7-" }]);
    await breath();
    expect(asked).toHaveLength(2);
    asked[1]?.answer("12");
    for (const page of await Promise.all(others)) expect(page).toMatchObject([{ position: "12~7-" }]);
    const late = log.read("demo", "1");
    await breath();
    asked[2]?.answer("13");
    expect(await late).toMatchObject([{ position: "13~7-" }]);
  });

  test("other projects, places and lengths are read by themselves, and a failure is only theirs who asked for it", async () => {
    const { asked, log } = slowDatabase();
    const failed = log.read("demo", "1");
    const waiting = log.read("demo", "1");
    const rest = [log.read("shop", "1"), log.read("demo", "2"), log.read("demo", "1", 1)];
    await breath();
    expect(asked.map(({ values }) => values.slice(0, 4).join(" "))).toEqual([
      "demo 1 0 200",
      "shop 1 0 200",
      "demo 2 0 200",
      "demo 1 0 1",
    ]);
    for (const { answer } of asked.slice(1)) answer("11");
    await Promise.all(rest);
    asked[0]?.answer(new Error("away"));
    await expect(failed).rejects.toThrow("away");
    await breath();
    asked[4]?.answer("15");
    expect(await waiting).toMatchObject([{ position: "15~7-" }]);
  });

  test("after a look that found nothing, only transactions that were open then are looked at again", async () => {
    const asked: (readonly unknown[])[] = [];
    const query = async <Row>(_statement: unknown, values: readonly unknown[] = []): Promise<Row[]> => {
      asked.push(values);
      return [{ id: null, listed: ["12"], unlisted: "90" } as Row];
    };
    const log = createEventLog({ query });
    for (let look = 0; look < 2; look++) expect(await log.read("demo", "5~7-")).toEqual([]);
    expect(asked.map((values) => values[4])).toEqual([["7"], ["12", "90"]]);
  });
});
