// The steps of a call as tests take them, and a fingerprint of the whole database to prove that nothing changed.

import type { LeasedCall } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import type pg from "pg";
import { withTestClient } from "../postgres-client.ts";
import { ENGINE_TABLES, fingerprintOf } from "./call-walk.sql.ts";
import { meddle } from "./meddle.ts";
import type { TestEngine } from "./test-engine.ts";

export const TEST_ACTOR = "tool.test";

export const dispatchAndClaim = async (
  t: TestEngine,
  toolName: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<LeasedCall> => {
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: args });
  const claimed = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "holder-1", max: 256 });
  const found = claimed.find(({ facts }) => facts.toolCallId === made.toolCallId);
  if (found === undefined)
    throw new ToolplaneError("internal_error", "the call that was just made could not be claimed");
  return found;
};

/** What `settle` takes for a leased call. */
export const resultFor = (
  call: LeasedCall,
  given: { status?: unknown; result?: unknown; error?: unknown; afterExecution?: unknown } = {},
) => ({
  projectId: call.facts.projectId,
  toolCallId: call.facts.toolCallId,
  actorId: call.facts.actorId,
  leaseId: call.lease.id,
  outcome: { given: { status: "success", result: { ok: true }, ...given } },
});

/** The code of the error a promise fails with; anything but a typed error is a failure of its own. */
export const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ToolplaneError) return error.code;
    throw error;
  }
  return "no error";
};

export const withClient = <T>(t: TestEngine, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  withTestClient(t.database.url, work);

/** Every row of every table of the engine, hashed: two equal fingerprints mean that nothing changed. */
export const fingerprint = (t: TestEngine): Promise<string> =>
  withClient(t, async (client) => {
    const tables = await client.query<{ name: string }>(ENGINE_TABLES);
    const parts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ print: string }>(fingerprintOf(name));
      parts.push(`${name}=${rows[0]?.print}`);
    }
    return parts.join("\n");
  });

const PASSINGS = { lease: "passLease", run: "passRun", queue: "passQueue", due: "passDue" } as const;

/** Moves a call's deadlines into the past, as if the time had gone by. */
export const letPass = async (t: TestEngine, toolCallId: string, what: keyof typeof PASSINGS): Promise<void> => {
  await meddle(t, PASSINGS[what], [toolCallId]);
};
