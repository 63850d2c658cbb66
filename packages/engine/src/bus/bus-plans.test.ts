// Every statement of the bus is led to its rows by an index condition: on an empty database, where the planner would as
// soon read the whole table, and with a hundred thousand old events and a long queue. Plans are generic, as the database
// port asks for, and kept per connection, so a plan that is only right for a small table would stay.

import { createTestDatabase, ENGINE_TEMPLATE } from "@toolplane/testkit";
import type { Client } from "pg";
import { expect, test } from "vitest";
import { MOVE_OLD_EVENTS } from "../carrier/take-over.sql.ts";
import {
  BURY_REFUSED,
  CLAIM_OUTBOX,
  EXTEND_CLAIM,
  MARK_PUBLISHED,
  NEXT_DUE,
  PUT_OFF,
  STUCK_MESSAGES,
} from "../outbox/relay.sql.ts";
import { createDatabase, type Statement } from "../sql/database.ts";
import { NOW_POSITION, READ_EVENTS } from "./event-log.sql.ts";
import { TRIM_COMMANDS, TRIM_EVENTS, TRIM_SENT_EVENTS } from "./retention.sql.ts";
import { READ_STREAM_ITEMS, TRIM_STREAM_ITEMS } from "./streams.sql.ts";

const FILL = [
  `insert into bus.messages (category, project_id, subject, component, target, headers, payload)
   select 'evt', 'p', 'cg.v1r4.p.public.evt.agent.a.task', 'agent', 'a', '{}', '{}' from generate_series(1, 100000)`,
  `insert into bus.messages (category, project_id, subject, component, target, headers, payload)
   select 'cmd', 'p', 'cg.v1r4.p.public.cmd.tool.t' || n % 50 || '.run', 'tool', 't' || n % 50, '{}', '{}'
     from generate_series(1, 5000) n`,
  "insert into bus.stream_items (origin, subject, payload) select 'o', 's', 'x' from generate_series(1, 20000)",
  "analyze bus.messages, bus.stream_items",
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

const explain = async (client: Client, { name, text }: Statement): Promise<readonly string[]> => {
  const nulls = [...new Set(text.match(/\$\d+/g) ?? [])].map(() => "null").join(", ");
  const { rows } = await client.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
    `explain (format json) execute "${name}"${nulls === "" ? "" : `(${nulls})`}`,
  );
  return rows[0]?.["QUERY PLAN"].flatMap(({ Plan }) => wholeScans(Plan)) ?? [];
};

const STATEMENTS: readonly Statement[] = [
  READ_EVENTS,
  NOW_POSITION,
  EXTEND_CLAIM,
  PUT_OFF,
  BURY_REFUSED,
  TRIM_EVENTS,
  TRIM_COMMANDS,
  READ_STREAM_ITEMS,
  TRIM_STREAM_ITEMS,
  TRIM_SENT_EVENTS,
  CLAIM_OUTBOX,
  MARK_PUBLISHED,
  NEXT_DUE,
  MOVE_OLD_EVENTS,
  STUCK_MESSAGES,
];

// These read in the order of an index and stop at a limit; what they pass over is short by its nature.
const IN_ORDER: Readonly<Record<string, readonly string[]>> = {
  // rows of a partial index of live commands
  bus_trim_commands: ["Index Scan of messages by messages_commands"],
  // the oldest rows of the log
  bus_trim_events: ["Index Scan of messages by messages_events"],
  bus_trim_stream_items: ["Index Scan of stream_items by stream_items_order"],
  bus_trim_sent_events: ["Index Scan of sent_events by sent_events_pkey"],
};

test("[ARCH-6-31] no statement of the bus reads a whole table, with a plan made before there was anything in it", async () => {
  await using database = await createTestDatabase(ENGINE_TEMPLATE);
  const db = createDatabase({ connection: { connectionString: database.url } });
  const client = await db.connect();
  for (const { name, text } of STATEMENTS) await client.query(`prepare "${name}" as ${text}`);
  const check = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const statement of STATEMENTS) {
      const allowed = IN_ORDER[statement.name] ?? [];
      for (const scan of await explain(client, statement)) {
        if (!allowed.includes(scan)) found.push(`${statement.name}: ${scan}`);
      }
    }
    return found;
  };
  expect(await check()).toEqual([]);
  for (const text of FILL) await client.query(text);
  // The statistics have changed, so every plan is made anew.
  expect(await check()).toEqual([]);
  expect(STATEMENTS.length).toBeGreaterThanOrEqual(14);

  // The check sees what it looks for.
  const whole = { name: "whole", text: "select 1 from bus.messages where payload = $1" };
  await client.query(`prepare ${whole.name} as ${whole.text}`);
  expect(await explain(client, whole)).toEqual(["Seq Scan of messages by nothing"]);
  await client.end();
  await db.close();
});
