// Whom commands go to, among a hundred thousand tools: found by the index, one step per target.

import { createDatabase, type Database } from "@toolplane/engine";
import { createTestDatabase, ENGINE_TEMPLATE, type TestDatabase, withTestClient } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectStatements } from "./collect-statements.ts";

const TOOLS = 100_000;
const TARGETS = 20;

let database: TestDatabase;
let db: Database;

const statement = (await collectStatements()).find(({ name }) => name === "carrier.targets");
const registeredTargets = statement ?? expect.unreachable("the statement has another name");

const FILL = `
insert into resource.tools (project_id, tool_name, version, definition_hash, status, target, internal)
select 'many', 'tool_' || n, 1, 'hash',
       case when n % ${TARGETS} = 7 then 'deleted' when n % ${TARGETS} = 8 then 'paused' else 'active' end,
       case when n % ${TARGETS} = 9 then '' else 'target_' || n % ${TARGETS} end,
       n % ${TARGETS} = 6
  from generate_series(1, ${TOOLS}) n`;

beforeAll(async () => {
  database = await createTestDatabase(ENGINE_TEMPLATE);
  db = createDatabase({ connection: { connectionString: database.url }, maxConnections: 1 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

test("none are registered: there are none", async () => {
  expect(await db.query(registeredTargets)).toEqual([]);
});

test("[ARCH-5-P1] the targets of a hundred thousand tools are found without reading them", async () => {
  await withTestClient(database.url, async (client) => {
    await client.query(
      "insert into resource.projects (project_id, title, owner_id) values ('many', 'Many', 'sys.test')",
    );
    await client.query(FILL);
  });
  const found = await db.query<{ target: string }>(registeredTargets);
  const unlisted = new Set(["target_6", "target_7", "target_9"]);
  const expected = Array.from({ length: TARGETS }, (_, n) => `target_${n}`).filter((target) => !unlisted.has(target));
  expect(found.map(({ target }) => target)).toEqual(expected.toSorted());

  const [plan] = await db.query<{ "QUERY PLAN": readonly [{ readonly Plan: Record<string, number> }] }>({
    name: "explained",
    text: `explain (analyze, buffers, format json) ${registeredTargets.text}`,
  });
  const { "Shared Hit Blocks": hit = 0, "Shared Read Blocks": read = 0 } = plan?.["QUERY PLAN"][0].Plan ?? {};
  expect(hit + read).toBeGreaterThan(0);
  // A few pages of the index and one of the table for each; the table alone has more than a thousand.
  expect(hit + read).toBeLessThan(TARGETS * 10);
});
