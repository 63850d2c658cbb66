// Every statement of the engine is led to its rows by an index: on empty tables, where the planner would as soon read
// everything, and with a hundred thousand settled calls, old events and ended batches. Plans are generic and kept as long as their connection, so a
// plan that is only right for a small table would stay when it has grown.

import { createDatabase, type Database } from "@toolplane/engine/internal";
import {
  dispatchAndClaim,
  meddle,
  resultFor,
  startTestEngine,
  type TestEngine,
  withTestClient,
} from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSettledHistory } from "../../bench/engine/settled-history.ts";
import { ALLOWED_PROJECT_SCANS, ALLOWED_SCANS, type AllowedScan, isFew, isTied } from "./allowed.ts";
import { collectStatements } from "./collect-statements.ts";
import { cteJoins, type PlanNode, projectScans, wholeScans } from "./plan.ts";

type Client = Awaited<ReturnType<Database["connect"]>>;

const FILLINGS = ["fillEvents", "fillCommands", "fillStreams", "fillBatches", "fillTasks", "analyzeFull"] as const;
const SETTLED = 100_000;
const HOURS_AGO_MS = 36_000_000;

const statements = await collectStatements();

/** As the engine's connections make and keep it: their role, their settings, no values known. */
const planOf = async (
  client: Client,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<PlanNode> => {
  await client.query(`prepare "${name}" as ${text}`);
  const known = await client.query<{ parameters: number }>(
    "select cardinality(parameter_types) as parameters from pg_prepared_statements where name = $1",
    [name],
  );
  const nulls = Array.from({ length: known.rows[0]?.parameters ?? 0 }, () => "null").join(", ");
  const { rows } = await client.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
    `explain (format json) execute "${name}"${nulls === "" ? "" : `(${nulls})`}`,
  );
  const plan = rows[0]?.["QUERY PLAN"][0]?.Plan;
  return plan ?? expect.unreachable(`no plan for ${name}`);
};

const withEngineClient = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const db = createDatabase({ connection: { connectionString: url }, role: "toolplane_engine", maxConnections: 1 });
  const client = await db.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
    await db.close();
  }
};

const planAll = (url: string): Promise<ReadonlyMap<string, PlanNode>> =>
  withEngineClient(url, async (client) => {
    const plans = new Map<string, PlanNode>();
    for (const statement of statements) plans.set(statement.name, await planOf(client, statement));
    return plans;
  });

const namesOf = ({ statement, scan, or }: AllowedScan): readonly string[] =>
  (or === undefined ? [scan] : [scan, or]).map((way) => `${statement}: ${way}`);

const allowed = new Set(ALLOWED_SCANS.flatMap(namesOf));
const allowedOfProject = new Set(ALLOWED_PROJECT_SCANS.flatMap(namesOf));

/** Deleting a project reads all it has: that is what it is for. */
const SWEEPS = "projects.sweep-";

const listed = (
  plans: ReadonlyMap<string, PlanNode>,
  look: (plan: PlanNode) => readonly string[],
): readonly string[] => [
  ...new Set([...plans].flatMap(([name, plan]) => look(plan).map((what) => `${name}: ${what}`))),
];

let t: TestEngine;
let young: ReadonlyMap<string, PlanNode>;
let old: ReadonlyMap<string, PlanNode>;

beforeAll(async () => {
  t = await startTestEngine();
  young = await planAll(t.database.url);
  await t.engine.calls.settle(resultFor(await dispatchAndClaim(t, "safe")));
  const owner = createDatabase({ connection: { connectionString: t.database.url }, maxConnections: 1 });
  await makeSettledHistory(owner, { sampleProject: t.projectId, calls: SETTLED, beganMs: Date.now() - HOURS_AGO_MS });
  await owner.close();
  for (const what of FILLINGS) await meddle(t, what);
  old = await planAll(t.database.url);
});
afterAll(() => t[Symbol.asyncDispose]());

test("the statements are found where they are written, each under a name of its own", () => {
  const names = statements.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(["calls.dispatch", "calls.claim", "calls.settle", "watchdog.read-due"]));
  expect(names).toEqual(expect.arrayContaining(["stats.queue-depths", "retention.forget-calls", "outbox_put_off"]));
  expect(names).toEqual(expect.arrayContaining(["registry.read-definitions", "projects.sweep-bus.messages"]));
  expect(names).toEqual(
    expect.arrayContaining(["calls.dispatch-fresh", "calls.dispatch-fresh/queued", "calls.dispatch-all"]),
  );
  expect(names).toEqual(expect.arrayContaining(["calls.settle-direct", expect.stringMatching(/^turns\.write-\w+$/)]));
});

describe.each([
  ["on empty tables", () => young],
  [`with ${SETTLED} settled calls, and as much behind in the other tables`, () => old],
])("plans made %s", (_when, plans) => {
  test("[ARCH-5-P1] [ARCH-6-31] [UTP-11.6-R9] no statement reads a table without an index that leads to its rows", () => {
    expect(listed(plans(), wholeScans).filter((scan) => !allowed.has(scan) && !isFew(scan))).toEqual([]);
  });

  test("[ARCH-5-P3] no statement is led to its rows by the project alone", () => {
    expect(
      listed(plans(), projectScans).filter(
        (scan) => !allowedOfProject.has(scan) && !scan.startsWith(SWEEPS) && !isFew(scan),
      ),
    ).toEqual([]);
  });

  test("[ARCH-5-P2] no statement looks through the rows of a CTE once for each row of another", () => {
    expect(listed(plans(), cteJoins)).toEqual([]);
  });
});

// An ANALYZE of a table that is empty or has one row makes the planner believe that it stays so: then
// reading all of it costs as much as a lookup. Such plans are kept until the server looks again.
describe("plans made after the server has looked at", () => {
  let fresh: TestEngine;
  let empty: ReadonlyMap<string, PlanNode>;
  let single: ReadonlyMap<string, PlanNode>;

  const lookedAt = async (): Promise<ReadonlyMap<string, PlanNode>> => {
    await withTestClient(fresh.database.url, (client) => client.query("analyze"));
    return planAll(fresh.database.url);
  };

  beforeAll(async () => {
    fresh = await startTestEngine();
    empty = await lookedAt();
    await fresh.engine.calls.settle(resultFor(await dispatchAndClaim(fresh, "safe")));
    single = await lookedAt();
  });
  afterAll(() => fresh[Symbol.asyncDispose]());

  describe.each([
    ["empty tables", () => empty],
    ["one settled call", () => single],
  ])("%s", (_what, plans) => {
    test("[ARCH-5-P1] no statement reads a table without an index that leads to its rows", () => {
      expect(listed(plans(), wholeScans).filter((scan) => !allowed.has(scan) && !isTied(scan) && !isFew(scan))).toEqual(
        [],
      );
    });

    test("[ARCH-5-P3] no statement is led to its rows by the project alone", () => {
      expect(
        listed(plans(), projectScans).filter(
          (scan) => !allowedOfProject.has(scan) && !scan.startsWith(SWEEPS) && !isTied(scan) && !isFew(scan),
        ),
      ).toEqual([]);
    });

    test("[ARCH-5-P2] no statement looks through the rows of a CTE once for each row of another", () => {
      expect(listed(plans(), cteJoins)).toEqual([]);
    });
  });
});

test("every scan that is allowed is there", () => {
  const seen = new Set([...listed(young, wholeScans), ...listed(old, wholeScans)]);
  const missing = (scans: readonly AllowedScan[], found: ReadonlySet<string>) =>
    scans.filter((scan) => !namesOf(scan).some((name) => found.has(name)));
  expect(missing(ALLOWED_SCANS, seen)).toEqual([]);
  const led = new Set([...listed(young, projectScans), ...listed(old, projectScans)]);
  expect(missing(ALLOWED_PROJECT_SCANS, led)).toEqual([]);
});

test("the calls are really there, and settled", async () => {
  const count = await withTestClient(t.database.url, async (client) => {
    const { rows } = await client.query<{ calls: number; cards: number }>(
      "select (select count(*)::int from state.calls where settled_at is not null) as calls, (select count(*)::int from cards.cards) as cards",
    );
    return rows[0];
  });
  expect(count).toEqual({ calls: SETTLED + 1, cards: (SETTLED + 1) * 2 });
});

const everyNode = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(everyNode)];

/** A list of calls, carried out: which table was read how. */
const listCalls = async (status: string): Promise<ReadonlyMap<string | undefined, PlanNode>> => {
  const text = statements.find(({ name }) => name === "calls.list")?.text;
  const plan = await withEngineClient(t.database.url, async (client) => {
    await client.query(`prepare list as ${text}`);
    const { rows } = await client.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
      `explain (analyze, buffers, format json) execute list ('${t.projectId}', null, 5, ${status}, null, null)`,
    );
    return rows[0]?.["QUERY PLAN"][0]?.Plan ?? expect.unreachable("no plan");
  });
  const read = everyNode(plan).filter((node) => node["Relation Name"] !== undefined && node["Actual Loops"] !== 0);
  return new Map(read.map((node) => [node["Relation Name"], node]));
};

// To merge the two, the first call of each has to be found: one of a status that is not there only after all others.
test.each([
  ["queued", "live_calls"],
  ["success", "past_calls"],
])("[ARCH-5-P1] a list of calls that are %s reads no others than %s", async (status, table) => {
  expect([...(await listCalls(`'${status}'`)).keys()]).toEqual([table]);
});

test("[ARCH-5-P1] a list of calls is not led over those that have left the live ones, while somebody may still see them", async () => {
  await withTestClient(t.database.url, async (onlooker) => {
    await onlooker.query("begin isolation level repeatable read");
    await onlooker.query("select from state.live_calls");
    await meddle(t, "reviveManyCalls", [t.projectId]);
    await meddle(t, "dropLiveCalls");
    const live = (await listCalls("null")).get("live_calls") ?? expect.unreachable("the live calls were not read");
    expect((live["Shared Hit Blocks"] ?? 0) + (live["Shared Read Blocks"] ?? 0)).toBeLessThan(50);
  });
});

describe("a statement that is wrong is seen to be", () => {
  test.each([
    ["without an index", "select * from state.past_calls where trace_id = $1", ["Seq Scan of past_calls by nothing"]],
    [
      "over a whole index",
      "select tool_call_id from state.past_calls order by project_id, tool_call_id",
      ["Index Only Scan of past_calls by past_calls_pkey"],
    ],
  ])("%s", async (_what, text, expected) => {
    const plan = await withEngineClient(t.database.url, (client) => planOf(client, { name: "wrong", text }));
    expect(wholeScans(plan)).toEqual(expected);
  });

  test("by the project alone", async () => {
    const text = "select 1 from state.past_calls where project_id = $1 and trace_id = $2";
    const plan = await withEngineClient(t.database.url, (client) => planOf(client, { name: "wrong", text }));
    expect(projectScans(plan)).toEqual(["Index Scan of past_calls by past_calls_pkey"]);
  });

  test("joining two CTEs", async () => {
    const text = `with a as materialized (select unnest($1::int[]) as x), b as materialized (select unnest($2::int[]) as x)
      select a.x from a join b on a.x = b.x`;
    const plan = await withEngineClient(t.database.url, (client) => planOf(client, { name: "wrong", text }));
    expect(cteJoins(plan)).toHaveLength(1);
  });
});
