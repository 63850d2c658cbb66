import { expect, test } from "vitest";
import { createEventLog } from "./event-log.ts";

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
