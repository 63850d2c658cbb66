// Dispatch of a step: all the calls an agent asked for at once, in one transaction with the head's move from running to
// suspended. A result of the first call can therefore never resume the turn before the second exists.
//   A step is all or nothing: one call that cannot be planned refuses the step and writes nothing.
//   Gate: the head must be running in exactly this turn and epoch, otherwise the step is stale and has no effect (I2).
//   One step per agent in a flush; a head that is locked goes to the next flush.
//   A step that was dispatched before is answered with its calls: the worker may ask again when it was not told.

import { type JsonCaps, ToolplaneError } from "@toolplane/protocol";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import { roughBytes } from "../coalescer/rough-bytes.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Definitions } from "../registry/definition-cache.ts";
import type { Database, Queryer } from "../sql/database.ts";
import { bindDispatch, DISPATCH, type DispatchedRow, type DispatchRow } from "./dispatch.sql.ts";
import {
  bindHeads,
  bindSuspends,
  type HeldHeadRow,
  KNOWN_HEADS,
  LOCK_HEADS,
  SUSPEND_HEADS,
  type SuspendRow,
} from "./dispatch-step.sql.ts";
import { findDoneSteps } from "./done-steps.ts";
import { originChain, planCall } from "./plan-call.ts";
import type { DispatchedStep, StepRequest } from "./step.ts";
import type { ChainLink, Sha256 } from "./turn-chain.ts";

export interface DispatchStepDeps {
  readonly db: Database;
  readonly definitions: Definitions;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sha256: Sha256;
  readonly caps: JsonCaps;
  readonly republishSeconds: number | null;
}

type Held = { readonly step: StepRequest; readonly chain: ChainLink };
// As for direct calls: large arguments travel in small company.
const MAX_FLUSH_BYTES = 4 * 1024 * 1024;

type StepOutcome = DispatchedStep | Error | "locked";

// Whoever holds the head is in the middle of a short transaction; if it is not short, asking in a loop only heats.
const LOCKED_PAUSE_MS = 5;

const isHeld = (head: Held | StepOutcome): head is Held => typeof head === "object" && "step" in head;

const stale = ({ origin }: StepRequest): ToolplaneError =>
  new ToolplaneError(
    "conflict",
    `turn ${origin.agentTurnId} of ${origin.agentId} is not running in epoch ${origin.turnEpoch}; the step has no effect`,
  );

const isCurrent = ({ origin }: StepRequest, head: HeldHeadRow): boolean =>
  head.status === "running" && head.active_agent_turn_id === origin.agentTurnId && head.turn_epoch === origin.turnEpoch;

const chainOf = (step: StepRequest, head: HeldHeadRow, sha256: Sha256): ChainLink =>
  head.chain_hash === null
    ? originChain({ ...step.origin, headless: false }, sha256)
    : { seq: head.chain_seq, hash: head.chain_hash };

interface WrittenSteps {
  readonly done: readonly DispatchedStep[];
  readonly ofSessions: boolean;
}

const NOTHING_WRITTEN: WrittenSteps = { done: [], ofSessions: false };

export const createDispatchStep = (deps: DispatchStepDeps): Coalescer<StepRequest, DispatchedStep> => {
  const { db, faults, sha256, ids } = deps;

  const planStep = async ({ step, chain }: Held): Promise<{ rows: DispatchRow[]; chain: ChainLink }> => {
    const { origin, calls } = step;
    const pinned = await deps.definitions.resolve(
      calls.map(({ toolName }) => ({ projectId: origin.projectId, toolName })),
    );
    const now = new Date(deps.clock.now()).toISOString();
    const rows: DispatchRow[] = [];
    let link = chain;
    for (const [index, ask] of calls.entries()) {
      const definition = pinned[index];
      if (definition === undefined)
        throw new ToolplaneError("not_found", `project ${origin.projectId} has no tool ${ask.toolName}`);
      const planned = planCall({
        origin: { ...origin, headless: false },
        ask,
        pinned: definition,
        chain: link,
        toolCallId: ids.uuid(),
        now,
        ids,
        sha256,
        caps: deps.caps,
        external: deps.republishSeconds !== null,
      });
      link = planned.chain;
      rows.push(planned.row);
    }
    return { rows, chain: link };
  };

  const suspendOf = ({ origin }: StepRequest, rows: readonly DispatchRow[], chain: ChainLink): SuspendRow => ({
    projectId: origin.projectId,
    agentId: origin.agentId,
    agentTurnId: origin.agentTurnId,
    turnEpoch: origin.turnEpoch,
    stepId: origin.stepId,
    channelId: origin.channelId,
    parentStepId: origin.parentStepId ?? null,
    traceId: rows[0]?.traceId ?? "",
    waiting: rows.length,
    chainSeq: chain.seq,
    chainHash: chain.hash,
    toolCallIds: JSON.stringify(rows.map(({ toolCallId }) => toolCallId)),
  });

  const lockHeads = async (tx: Queryer, steps: readonly StepRequest[]): Promise<(Held | StepOutcome)[]> => {
    const keys = steps.map(({ origin }) => origin);
    const locked = new Map((await tx.query<HeldHeadRow>(LOCK_HEADS, bindHeads(keys))).map((row) => [row.ord, row]));
    const known = new Set((await tx.query<{ ord: number }>(KNOWN_HEADS, bindHeads(keys))).map(({ ord }) => ord));
    const heads = steps.map((step, index): Held | "stale" | "locked" => {
      const head = locked.get(index + 1);
      if (head === undefined) return known.has(index + 1) ? "locked" : "stale";
      return isCurrent(step, head) ? { step, chain: chainOf(step, head, sha256) } : "stale";
    });
    const late = steps.filter((_, index) => heads[index] === "stale");
    const done = new Map((await findDoneSteps(tx, late, sha256)).map((found, index) => [late[index], found]));
    return steps.map((step, index) => {
      const head = heads[index] ?? "stale";
      return head === "stale" ? (done.get(step) ?? stale(step)) : head;
    });
  };

  const writeSteps = async (tx: Queryer, held: readonly Held[]): Promise<WrittenSteps> => {
    const plans: { step: StepRequest; rows: DispatchRow[]; chain: ChainLink }[] = [];
    for (const item of held) plans.push({ step: item.step, ...(await planStep(item)) });
    const rows = plans.flatMap((plan) => plan.rows);
    const written = await tx.query<DispatchedRow>(DISPATCH, bindDispatch(rows, deps.republishSeconds));
    const missing = rows.find((_, index) => written[index]?.inserted !== true);
    if (missing !== undefined) {
      // Replaced, deleted, or the agent left the roster while we planned: nothing of this flush is kept (W-41).
      deps.definitions.forget(missing.projectId, missing.toolName);
      throw new ToolplaneError(
        "conflict",
        `${missing.toolName} could not be called by ${missing.agentId}: its definition or the roster changed; try again`,
      );
    }
    await tx.query(SUSPEND_HEADS, bindSuspends(plans.map((plan) => suspendOf(plan.step, plan.rows, plan.chain))));
    const done = plans.map((plan) => ({
      calls: plan.rows.map(({ toolCallId, callCardId, toolName }) => ({ toolCallId, callCardId, toolName })),
      chain: plan.chain,
    }));
    return { done, ofSessions: rows.some(({ session }) => session !== null) };
  };

  const flush = async (steps: readonly StepRequest[]): Promise<readonly StepOutcome[]> => {
    const { outcomes, ofSessions } = await db.transaction(async (tx) => {
      const heads = await lockHeads(tx, steps);
      const held = heads.filter(isHeld);
      const { done, ofSessions } = held.length === 0 ? NOTHING_WRITTEN : await writeSteps(tx, held);
      await faults.at("step:before-commit");
      let next = 0;
      return { outcomes: heads.map((head) => (isHeld(head) ? (done[next++] as DispatchedStep) : head)), ofSessions };
    });
    await faults.at("step:after-commit");
    deps.doorbell.ring(ofSessions ? "sessions" : "queued");
    return outcomes;
  };

  const coalescer = createCoalescer<StepRequest, DispatchedStep | "locked">({
    flush,
    keyOf: ({ origin }) => `${origin.projectId}/${origin.agentId}`,
    bytesOf: ({ calls }) => roughBytes(calls, MAX_FLUSH_BYTES),
    maxBytes: MAX_FLUSH_BYTES,
    maxItems: 64,
  });

  return {
    async submit(step) {
      if (step.calls.length === 0) throw new ToolplaneError("bad_request", "a step without calls needs no dispatch");
      let outcome = await coalescer.submit(step);
      while (outcome === "locked") {
        await deps.clock.sleep(LOCKED_PAUSE_MS);
        outcome = await coalescer.submit(step);
      }
      return outcome;
    },
    idle: coalescer.idle,
    stats: coalescer.stats,
  };
};
