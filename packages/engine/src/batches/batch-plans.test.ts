// Every statement about batches and delegation is led to its rows by an index: on an empty database, and with ten
// thousand batches that have ended. Plans are generic and kept per connection, so one that is only right for a small
// table would stay.

import { createTestDatabase, ENGINE_TEMPLATE } from "@toolplane/testkit";
import type { Client } from "pg";
import { expect, test } from "vitest";
import * as parking from "../calls/park.sql.ts";
import * as delegation from "../delegation/delegation.sql.ts";
import { createDatabase, type Statement } from "../sql/database.ts";
import * as tasks from "./batch-tasks.sql.ts";
import * as batches from "./batches.sql.ts";

const FILL = [
  `insert into state.batches (project_id, batch_id, status, parent_tool_call_id, parent_agent_id, parent_agent_turn_id, deadline_at, ended_at)
   select 'p', 'b' || n, 'success', 'c' || n, 'a', 't', now(), case when n > 5 then now() end from generate_series(1, 10000) n`,
  `insert into state.batch_tasks (project_id, batch_id, task_index, status, agent_id, agent_turn_id, task)
   select 'p', 'b' || n, i, 'success', 'a', 't' || n || '_' || i, '{}' from generate_series(1, 10000) n, generate_series(0, 4) i`,
  "analyze state.batches, state.batch_tasks",
];

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Reads of a table that are not led to the rows by an index condition. */
const wholeScans = (node: PlanNode): readonly string[] => [
  ...(node["Node Type"].endsWith("Scan") && node["Relation Name"] !== undefined && node["Index Cond"] === undefined
    ? [`${node["Node Type"]} of ${node["Relation Name"]} by ${node["Index Name"] ?? "nothing"}`]
    : []),
  ...(node.Plans ?? []).flatMap(wholeScans),
];

const isStatement = (value: unknown): value is Statement =>
  typeof value === "object" && value !== null && "text" in value && "name" in value;

const STATEMENTS: readonly Statement[] = [batches, tasks, delegation, parking].flatMap((module) =>
  Object.values(module).filter(isStatement),
);

// The open batches, in the order of their deadlines: there are as many as there are calls that wait for one.
const IN_ORDER: Readonly<Record<string, readonly string[]>> = {
  "batches.read-due": ["Index Scan of batches by batches_open"],
};

const explain = async (client: Client, { name, text }: Statement): Promise<readonly string[]> => {
  const nulls = [...new Set(text.match(/\$\d+/g) ?? [])].map(() => "null").join(", ");
  const { rows } = await client.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
    `explain (format json) execute "${name}"(${nulls})`,
  );
  const scans = rows[0]?.["QUERY PLAN"].flatMap(({ Plan }) => wholeScans(Plan)) ?? [];
  return scans.filter((scan) => !(IN_ORDER[name] ?? []).includes(scan)).map((scan) => `${name}: ${scan}`);
};

test("[UTP-11.6-R9] no statement about batches reads a whole table, however many have ended", async () => {
  await using database = await createTestDatabase(ENGINE_TEMPLATE);
  const db = createDatabase({ connection: { connectionString: database.url } });
  const client = await db.connect();
  for (const { name, text } of STATEMENTS) await client.query(`prepare "${name}" as ${text}`);
  const check = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const statement of STATEMENTS) found.push(...(await explain(client, statement)));
    return found;
  };
  expect(await check()).toEqual([]);
  for (const text of FILL) await client.query(text);
  expect(await check()).toEqual([]);
  expect(STATEMENTS.length).toBeGreaterThanOrEqual(20);
  await client.end();
  await db.close();
});
