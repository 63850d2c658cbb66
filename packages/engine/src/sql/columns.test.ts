import { expect, test } from "vitest";
import { given, inputOf, kept, namesOf, readerOf, selectOf } from "./columns.sql.ts";

const TABLE = {
  projectId: given<string>("text"),
  turnEpoch: given<number>("bigint", { select: (column) => `${column}::float8` }),
  headers: given<{ readonly a: number }, string>("text", { read: (stored) => JSON.parse(stored) as { a: number } }),
} as const;

test("one table gives the lists of statements", () => {
  expect(namesOf(TABLE)).toBe("project_id, turn_epoch, headers");
  expect(namesOf(TABLE, "i")).toBe("i.project_id, i.turn_epoch, i.headers");
  expect(selectOf({ ...TABLE, endedAt: kept<Date>() })).toBe(
    "c.project_id, c.turn_epoch::float8 as turn_epoch, c.headers, c.ended_at",
  );
});

test("the mapping reads what is stored under the column's name", () => {
  const row = { project_id: "p", turn_epoch: 3, headers: '{"a":1}' };
  expect(readerOf(TABLE)(row)).toEqual({ projectId: "p", turnEpoch: 3, headers: { a: 1 } });
});

test("the arrays that are bound follow the table, in its order", () => {
  const input = inputOf(TABLE, 3);
  expect(input.from).toBe(
    "unnest($3::text[], $4::bigint[], $5::text[]) with ordinality as i (project_id, turn_epoch, headers, ord)",
  );
  expect(input.next).toBe(6);
  expect(input.bind([{ projectId: "p", turnEpoch: 1, headers: "{}" }])).toHaveLength(3);
});
