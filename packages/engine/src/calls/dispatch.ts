// Dispatch of direct calls: each a headless turn of its own, any number at once.
// The way of a flush: chosen ids already used -> definitions (remembered) -> plan each -> one statement -> ring.
//   I4, I12. A key that was used answers with its call. The statement finds used keys; they are looked up only for calls that it
//   did not write and for calls that could not be planned. So a used key answers even after its tool was redefined or deleted.
//   A definition that was replaced after planning is read again and the call planned again; the statement itself reports it.
//   I9. A call in an agent's name is as deep as the agent: as the turn it is in, and never less than the agent itself.
//   A flush whose answer was lost may run again: ids were made with the request, so the second run finds the first.
//   A call for which a service waits here is written as leased to it and handed over (handover.ts). If it is not known whether
//   that was committed, calls under those leases go back to the queue: no service knows of them.

import { setImmediate as breathe } from "node:timers/promises";
import { DEFAULT_CHANNEL, isTrustedActor, ToolplaneError } from "@toolplane/protocol";
import { saidDepthError } from "@toolplane/protocol/agents";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import { roughBytes } from "../coalescer/rough-bytes.ts";
import type { Limits } from "../gates/limits.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import { createRecent } from "../recent/recent.ts";
import type { Definitions } from "../registry/definition-cache.ts";
import { type Checked, finishCheck, LongCheck, withVerdict } from "../registry/schema-checks.ts";
import type { Database } from "../sql/database.ts";
import type { CallPlaces } from "./call-places.ts";
import type { CallRequest, Dispatched } from "./call-request.ts";
import {
  bindKeys,
  bindMade,
  bindRefusals,
  type DispatchedRow,
  type DispatchRow,
  EXPLAIN_REFUSAL,
  FIND_KEYED,
  FIND_MADE,
  type KeyedRow,
  type MadeRow,
  type RefusalRow,
} from "./dispatch.sql.ts";
import { dispatchedOf, inLockOrder, keyedOutcome, madeOutcome, type Pending, refusalOf } from "./dispatch-outcome.ts";
import { checkIdempotencyKey, headlessOrigin, originChain, planCall } from "./plan-call.ts";
import type { Sha256 } from "./turn-chain.ts";
import { writeCalls } from "./write-calls.ts";

export interface DispatchDeps extends Limits {
  readonly db: Database;
  readonly definitions: Definitions;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly observe: CallObserver;
  readonly ids: Ids;
  readonly sha256: Sha256;
  /** Seconds until an unleased command is published again, on an external bus; null: the call row is the queue. */
  readonly republishSeconds: number | null;
}

export interface Dispatch extends Omit<Coalescer<CallRequest, Dispatched>, "submit"> {
  submit(request: CallRequest): Promise<Dispatched>;
  /** Under an id that was minted here for this request. */
  submitAs(toolCallId: string, request: CallRequest): Promise<Dispatched>;
}

const API_AGENT = "sys.api";
// A definition that changes more often than this within one dispatch is being changed in a loop.
const MAX_REPLANS = 5;
// Batches are capped by bytes, so one call with large arguments does not hold up many small ones.
const MAX_FLUSH_BYTES = 1024 * 1024;

// Agents that call outside of their turns; one that is not remembered costs a second try.
const MAX_DEPTHS = 10_000;

// Project ids contain no blanks, so a blank can separate them.
const agentKeyOf = (projectId: string, agentId: string): string => `${projectId} ${agentId}`;

// A card of this size takes a few milliseconds to plan.
const LARGE_CARD = 64 * 1024;

const keepsChanging = (toolName: string): ToolplaneError =>
  new ToolplaneError("conflict", `the definition of ${toolName} kept changing; try again in a moment`);

export const createDispatch = (deps: DispatchDeps & { readonly places: CallPlaces }): Dispatch => {
  const { db, definitions, faults, ids, sha256 } = deps;
  /** Agents that are deeper than 0, as far as they were met; the statement says when one is not that deep any more. */
  const depths = createRecent<{ readonly depth: number }>(MAX_DEPTHS);

  /** The depth that the caller says is used for planning: the statement compares it, and a refusal costs no second try. */
  const depthOf = ({ request: { projectId, saidDepth }, agentId }: Pending): number => {
    const unlike = isTrustedActor(agentId) ? saidDepthError(saidDepth, 0) : undefined;
    if (unlike !== undefined) throw unlike;
    return saidDepth ?? depths.get(agentKeyOf(projectId, agentId))?.depth ?? 0;
  };

  const findKeyed = async (items: readonly Pending[]): Promise<void> => {
    const keyed = items.filter(({ request }) => request.idempotencyKey !== undefined);
    if (keyed.length === 0) return;
    const rows = await db.query<KeyedRow>(
      FIND_KEYED,
      bindKeys(
        keyed.map(({ request, agentId }) => ({
          projectId: request.projectId,
          agentId,
          toolName: request.toolName,
          idempotencyKey: request.idempotencyKey ?? "",
        })),
      ),
    );
    for (const row of rows) {
      const item = keyed[row.ord - 1];
      if (item !== undefined) item.outcome = keyedOutcome(item, row, sha256);
    }
  };

  /** The call exists under its id: written by an earlier run, whose content counts, or by another caller. */
  const findMade = async (open: readonly Pending[]): Promise<void> => {
    if (open.length === 0) return;
    const lookups = open.map(({ request, toolCallId }) => ({ projectId: request.projectId, toolCallId }));
    for (const row of await db.query<MadeRow>(FIND_MADE, bindMade(lookups))) {
      const item = open[row.ord - 1];
      if (item !== undefined) item.outcome = madeOutcome(item, row, sha256);
    }
  };

  /** A limit does not refuse a call that is there: under its key, or under its id by an earlier run of the flush, whose answer was lost. */
  const findEarlier = async (refused: readonly Pending[]): Promise<void> => {
    await findMade(refused);
    await findKeyed(refused);
  };

  const plan = async (items: readonly Pending[]): Promise<void> => {
    const open = items.filter((item) => item.outcome === undefined);
    const failed: Pending[] = [];
    const held: Pending[] = [];
    const pinned = await definitions.resolve(open.map(({ request }) => request));
    const broken = await deps.breakers.refusals(
      open.map(({ request: { projectId } }, index) => ({ projectId, definition: pinned[index]?.definition })),
    );
    const now = new Date(deps.clock.now()).toISOString();
    for (const [index, item] of open.entries()) {
      const definition = pinned[index];
      if (definition === undefined) {
        item.row = undefined;
        continue;
      }
      if (broken[index] !== undefined) {
        item.outcome = broken[index];
        held.push(item);
        continue;
      }
      try {
        const { request, toolCallId, agentId } = item;
        const origin = headlessOrigin(
          {
            projectId: request.projectId,
            agentId,
            channelId: request.channelId ?? DEFAULT_CHANNEL,
            traceparent: request.traceparent,
            tracestate: request.tracestate,
            recursionDepth: depthOf(item),
          },
          toolCallId,
        );
        const planned = planCall({
          origin,
          ask: request,
          pinned: withVerdict(definition, item.checked),
          chain: originChain(origin, sha256),
          toolCallId,
          now,
          ids,
          sha256,
          external: deps.republishSeconds !== null,
        });
        item.row = planned.row;
        item.free = planned.free;
        item.dropped = planned.dropped;
      } catch (error) {
        item.outcome = error as Error;
        failed.push(item);
      }
      // Planning a large call takes tens of milliseconds: other work runs before the next one.
      if ((item.row?.cardBody.length ?? 0) > LARGE_CARD) await breathe();
    }
    await findKeyed(failed);
    await findEarlier(held);
  };

  /** Writes the calls; those that a waiting service may have as leased to it, and hands them over. */
  const insertPlaced = async (open: readonly Pending[]): Promise<readonly (DispatchedRow | undefined)[]> => {
    await deps.places.calm(open.map(({ row }) => row as DispatchRow));
    const placement = deps.places.place(
      open.map(({ row, free, dropped, request }) => ({
        row: row as DispatchRow,
        free,
        dropped,
        beginsTrace: request.traceparent === undefined,
      })),
    );
    for (const [index, item] of open.entries()) item.row = placement.rows[index];
    let written: readonly (DispatchedRow | undefined)[];
    try {
      written = await writeCalls(deps, open);
    } catch (error) {
      placement.drop(true);
      throw error;
    }
    await placement.tell(written);
    return written;
  };

  const write = async (items: readonly Pending[]): Promise<void> => {
    const open = inLockOrder(items.filter((item) => item.outcome === undefined && item.row !== undefined));
    if (open.length === 0) return findKeyed(items.filter((item) => item.outcome === undefined));
    await faults.at("dispatch:before-commit");
    const written = await insertPlaced(open);
    await faults.at("dispatch:after-commit");
    const clashed: Pending[] = [];
    const refused = open.filter((item) => item.outcome !== undefined);
    for (const [index, item] of open.entries()) {
      const row = written[index];
      if (item.outcome !== undefined) continue;
      if (row?.inserted === true && item.row !== undefined) {
        item.outcome = dispatchedOf(item.row, row.leased);
        item.made = true;
        item.queued = !row.leased;
        item.limited = row.gated;
      } else if (row !== undefined) clashed.push(item);
      else item.row = undefined;
    }
    await findKeyed(items.filter((item) => item.outcome === undefined));
    await findMade(clashed.filter((item) => item.outcome === undefined));
    await findEarlier(refused);
  };

  const explain = async (items: readonly Pending[]): Promise<void> => {
    const refused = items.filter((item) => item.outcome === undefined);
    if (refused.length === 0) return;
    const names = refused.map(({ request, agentId }) => ({
      projectId: request.projectId,
      toolName: request.toolName,
      agentId,
    }));
    const rows = await db.query<RefusalRow>(EXPLAIN_REFUSAL, bindRefusals(names));
    const byOrd = new Map(rows.map((row) => [row.ord, row]));
    for (const [index, item] of refused.entries()) {
      const name = names[index];
      if (name === undefined) continue;
      const row = byOrd.get(index + 1);
      const refusal = refusalOf(row, { ...item.request, agentId: item.agentId });
      if (refusal !== "replan") {
        item.outcome = refusal;
        continue;
      }
      definitions.forget(name.projectId, name.toolName);
      depths.set(agentKeyOf(name.projectId, name.agentId), { depth: row?.agent_depth ?? 0 });
    }
  };

  /**
   * Applies the limits of projects that refuse calls. Only calls that could be made are counted: a caller with an unknown tool or wrong arguments is
   * told so, not told to wait. A call with a used key is answered with the earlier call, even at the limit, and takes no token.
   */
  const admit = async (items: readonly Pending[]): Promise<void> => {
    const open = items.filter((item) => item.outcome === undefined && item.row !== undefined && !item.admitted);
    const refused: Pending[] = [];
    for (const projectId of new Set(open.map(({ request }) => request.projectId))) {
      const asked = open.filter(({ request }) => request.projectId === projectId);
      if ((await deps.admission.limitsOf(projectId)).rate != null) await findKeyed(asked);
      const own = asked.filter((item) => item.outcome === undefined);
      if (own.length === 0) continue;
      const verdicts = await deps.admission.admit(projectId, own.length);
      for (const [index, item] of own.entries()) {
        item.outcome = verdicts[index];
        item.admitted = item.outcome === undefined;
        if (!item.admitted) refused.push(item);
      }
    }
    await findEarlier(refused);
  };

  /**
   * Gives back the tokens of calls that were let in and not made: their keys were used meanwhile, their queue was full, or their agent may not call.
   */
  const giveBack = async (items: readonly Pending[]): Promise<void> => {
    const idle = items.filter((item) => item.admitted && !item.made);
    for (const [projectId, own] of Map.groupBy(idle, ({ request }) => request.projectId))
      await deps.admission.giveBack(projectId, own.length);
  };

  const flush = async (requests: readonly Identified[]): Promise<readonly (Dispatched | Error)[]> => {
    await faults.at("dispatch:before-read");
    const items = requests.map(
      ({ request, toolCallId, checked, minted }): Pending => ({
        toolCallId,
        request,
        checked,
        minted,
        free: false,
        dropped: [],
        queued: false,
        limited: false,
        admitted: false,
        made: false,
        agentId: request.agentId ?? API_AGENT,
        outcome: undefined,
        row: undefined,
      }),
    );
    // An id that the caller chose may belong to any call; for calls from before card ids were derived, only this lookup shows it.
    const chosen = items.filter(({ minted }) => !minted);
    await findKeyed(chosen);
    await findMade(chosen.filter((item) => item.outcome === undefined));
    // Before they are planned: what is refused costs no plan.
    const full = items.filter((item) => {
      if (item.outcome !== undefined) return false;
      item.outcome = deps.admission.planeFull(item.request.projectId);
      return item.outcome !== undefined;
    });
    await findEarlier(full);
    for (let round = 0; round < MAX_REPLANS && items.some((item) => item.outcome === undefined); round++) {
      await plan(items);
      await admit(items);
      await write(items);
      await explain(items);
    }
    await faults.at("dispatch:before-doorbell");
    const queued = items.filter((item) => item.queued);
    deps.places.ring(
      queued.flatMap(({ row }) => row ?? []),
      queued.some(({ limited }) => limited),
    );
    await giveBack(items);
    await faults.at("dispatch:after-doorbell");
    return items.map(({ outcome, request }) => outcome ?? keepsChanging(request.toolName));
  };

  interface Identified {
    readonly request: CallRequest;
    readonly toolCallId: string;
    readonly checked: Checked | undefined;
    readonly minted: boolean;
  }

  const coalescer = createCoalescer<Identified, Dispatched>({
    flush,
    groupOf: ({ request }) => request.projectId,
    bytesOf: ({ request }) => roughBytes(request.arguments, MAX_FLUSH_BYTES),
    maxBytes: MAX_FLUSH_BYTES,
  });
  const submit = async (request: CallRequest, toolCallId: string, minted: boolean): Promise<Dispatched> => {
    checkIdempotencyKey(request.idempotencyKey);
    let checked: Checked | undefined;
    for (let round = 1; ; round++) {
      try {
        return await coalescer.submit({ request, toolCallId, checked, minted });
      } catch (error) {
        // Outside of the flush: the other calls of the flush do not wait for the thread.
        if (!(error instanceof LongCheck)) throw error;
        if (round > MAX_REPLANS) throw keepsChanging(request.toolName);
        checked = await finishCheck(error, request.projectId);
      }
    }
  };
  return {
    submit: (request) => submit(request, request.toolCallId ?? ids.uuid(), request.toolCallId === undefined),
    submitAs: (toolCallId, request) => submit(request, toolCallId, true),
    idle: coalescer.idle,
    stats: coalescer.stats,
  };
};
