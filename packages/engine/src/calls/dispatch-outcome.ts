// How a direct call's dispatch ended, in the words its caller gets: stored now, found again, or refused. Pure.
//   I12. A key that was used answers with its call, or with a conflict when the arguments differ.
//   I9. A depth in the caller's headers is compared with the depth of the call that was found, because the agent may be in another turn by now.

import { type AfterExecution, isTrustedActor, ToolplaneError } from "@toolplane/protocol";
import { saidDepthError } from "@toolplane/protocol/agents";
import type { Checked } from "../registry/schema-checks.ts";
import { noProject } from "../registry/with-project.ts";
import type { CallRequest, Dispatched } from "./call-request.ts";
import type { DispatchRow, KeyedRow, MadeRow, RefusalRow } from "./dispatch.sql.ts";
import { askedHash } from "./plan-call.ts";
import type { Sha256 } from "./turn-chain.ts";

/** A request on its way through a flush. */
export interface Pending {
  readonly toolCallId: string;
  readonly request: CallRequest;
  readonly agentId: string;
  /** The id was minted here for this request: no other call can have it. */
  readonly minted: boolean;
  /** The answer of a check that was finished in a thread. */
  readonly checked: Checked | undefined;
  outcome: Dispatched | Error | undefined;
  row: DispatchRow | undefined;
  /** Whether a waiting service may have it at once. */
  free: boolean;
  /** Arguments whose values from the caller the definition replaces. */
  dropped: readonly string[];
  /** The call stands in the queue now. */
  queued: boolean;
  /** A limit holds the call, so it waits at a gate. */
  limited: boolean;
  /** The limits of the project let the call in. It is not counted again when it is planned again. */
  admitted: boolean;
  /** This flush wrote the call. */
  made: boolean;
}

export const dispatchedOf = (row: DispatchRow, leased: boolean): Dispatched => ({
  toolCallId: row.toolCallId,
  agentTurnId: row.agentTurnId,
  callCardId: row.callCardId,
  traceId: row.traceId,
  afterExecution: row.afterExecution as AfterExecution,
  status: leased ? "running" : row.status,
  idempotent: false,
});

// An insert of a key makes other inserts of the same key wait; all use one order, so that two never wait for each other. By
// project and tool first: should a plan look those up before the calls, the order is still the same.
const orderOf = ({ request, agentId }: Pending): string =>
  [request.projectId, request.toolName, agentId, request.idempotencyKey ?? ""].join("\n");

export const inLockOrder = (items: readonly Pending[]): Pending[] =>
  items
    .map((item) => ({ item, order: orderOf(item) }))
    .sort((a, b) => (a.order === b.order ? 0 : a.order < b.order ? -1 : 1))
    .map(({ item }) => item);

const foundOf = (row: KeyedRow, idempotent: boolean): Dispatched => ({
  toolCallId: row.tool_call_id,
  agentTurnId: row.agent_turn_id,
  callCardId: row.call_card_id,
  traceId: row.trace_id,
  afterExecution: row.after_execution,
  status: row.status,
  idempotent,
});

/** The call under this id: written by an earlier run of this request, or by another caller. */
export const madeOutcome = ({ request, agentId }: Pending, found: MadeRow, sha256: Sha256): Dispatched | Error =>
  found.tool_name === request.toolName &&
  found.agent_id === agentId &&
  found.arguments_hash === askedHash(request, sha256)
    ? foundOf(found, false)
    : new ToolplaneError("conflict", `there is another call ${found.tool_call_id} in this project`);

export const keyedOutcome = (pending: Pending, found: KeyedRow, sha256: Sha256): Dispatched | Error => {
  if (found.arguments_hash !== askedHash(pending.request, sha256))
    return new ToolplaneError(
      "idempotency_conflict",
      `the idempotency key was used before for ${pending.request.toolName} with other arguments; use a new key`,
      { detail: { tool_call_id: found.tool_call_id } },
    );
  const unlike = saidDepthError(pending.request.saidDepth, found.recursion_depth);
  return unlike ?? foundOf(found, found.tool_call_id !== pending.toolCallId);
};

export const refusalOf = (
  row: RefusalRow | undefined,
  names: Pick<CallRequest, "projectId" | "toolName" | "saidDepth"> & { readonly agentId: string },
): ToolplaneError | "replan" => {
  const { projectId, toolName, agentId, saidDepth } = names;
  if (row === undefined || row.project_status === null) return noProject(projectId);
  if (row.project_status !== "active")
    return new ToolplaneError("conflict", `project ${projectId} is ${row.project_status}: it takes no new calls`);
  if (row.tool_status === null || row.tool_status === "deleted")
    return new ToolplaneError("not_found", `project ${projectId} has no tool ${toolName}`);
  if (!row.agent_known && !isTrustedActor(agentId))
    return new ToolplaneError("invalid_source_actor", `${agentId} is not an active agent of project ${projectId}`);
  const unlike = row.agent_depth === null ? undefined : saidDepthError(saidDepth, row.agent_depth);
  return unlike ?? "replan";
};
