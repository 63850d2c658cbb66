// Everything that can be done with a call, in one place. Wires; decides nothing.

import { ToolplaneError } from "@toolplane/protocol";
import type { CoalescerStats } from "../coalescer/coalescer.ts";
import { type Diagnostics, readDiagnostics } from "../diagnostics/diagnostics.ts";
import { createGates, type Gates, type HeldBack } from "../gates/gates.ts";
import { createLingeringRuns } from "../gates/lingering-runs.ts";
import { readWaitingCommand, type WaitingCommand } from "../outbox/waiting-command.ts";
import type { Log } from "../ports/log.ts";
import { createSessionTargets, type TargetKey } from "../sessions/session-targets.ts";
import type { Database } from "../sql/database.ts";
import { createGiveBack } from "../waiting/give-back.ts";
import type { CallFacts, CallKey, CallView } from "./call.ts";
import { answerOfSettled, type CallAnswer } from "./call-answer.ts";
import { createFactMemory, type FactMemory } from "./call-facts.ts";
import { type CallLease, readLeases } from "./call-leases.ts";
import { type CallPlaces, createCallPlaces } from "./call-places.ts";
import { createCallReads, noCall } from "./call-reads.ts";
import type { CallRequest, Dispatched } from "./call-request.ts";
import { type Canceled, type CancelRequest, createCancel } from "./cancel.ts";
import { type CanceledPage, type CancelWaiting, createCancelWaiting } from "./cancel-waiting.ts";
import { type ClaimAcrossRequest, createClaimAcross } from "./claim-across.ts";
import { type ClaimLine, createClaimLine } from "./claim-line.ts";
import { type ClaimRequest, MAX_CLAIM } from "./claims.ts";
import { createDispatch, type DispatchDeps } from "./dispatch.ts";
import { createSayDropped } from "./dropped-arguments.ts";
import { createHandover } from "./handover.ts";
import { createKnownLeases } from "./known-leases.ts";
import { GIVE_BACK } from "./lease.sql.ts";
import { type Beat, createLeases, type Held, type LeaseRequest } from "./leases.ts";
import { type CallFilter, createCallList } from "./list-calls.ts";
import { type QueuePlace, readQueuePlace } from "./queue-place.ts";
import { READ_PIN } from "./read.sql.ts";
import { createReports, type PutResultCard, type ReportRequest } from "./reports.ts";
import { createRetries, type Retries } from "./retries.ts";
import { createRunnablePins } from "./runnable-pins.ts";
import { createSeenServices, EVERY_PROJECT, type SeenService } from "./seen-services.ts";
import { createServedVersions, EVERY_DEFINITION } from "./served-versions.ts";
import { createSettle, type Settled, type SettleRequest } from "./settle.ts";
import { createSettleWatch, type SettleWatch } from "./settle-watch.ts";
import { createSettlements, type Settlements, type SettlementsDeps } from "./settlements.ts";
import type { LeasedCall } from "./take-calls.ts";

export interface Calls {
  /** Stores a direct call; from then on it will settle. */
  dispatch(request: CallRequest): Promise<Dispatched>;
  /** Dispatches and waits up to `waitMs` for the settlement. */
  call(request: CallRequest, waitMs: number, signal?: AbortSignal): Promise<CallAnswer>;
  /** Leases what is queued for a target, now or within `waitMs`. */
  claim(request: ClaimRequest, waitMs?: number, signal?: AbortSignal): Promise<readonly LeasedCall[]>;
  /** Like `claim`, for a service of every project, such as the bundled tools. */
  claimAcross(request: ClaimAcrossRequest, waitMs?: number, signal?: AbortSignal): Promise<readonly LeasedCall[]>;
  lease(request: LeaseRequest): Promise<LeasedCall>;
  heartbeat(held: Held): Promise<Beat>;
  release(held: Held): Promise<void>;
  settle(request: SettleRequest): Promise<Settled>;
  putResultCard(request: PutResultCard): Promise<{ readonly cardId: string; readonly hash: string }>;
  report(request: ReportRequest): Promise<Settled>;
  cancel(request: CancelRequest): Promise<Canceled>;
  /** Cancels a page of the project's calls that wait. */
  cancelWaiting(request: CancelWaiting): Promise<CanceledPage>;
  get(key: CallKey): Promise<CallView>;
  /** What its program said when its tool failed; for operators only. */
  diagnostics(key: CallKey): Promise<Diagnostics | undefined>;
  /** The definition that the call is pinned to; undefined when any service may have it, or it has settled. */
  pin(key: CallKey): Promise<string | undefined>;
  /** Whether a service that names these definitions may run calls that are pinned to this one. */
  mayRun(projectId: string, definitions: readonly string[] | undefined, pin: string): Promise<boolean>;
  /** The leases of the call, in order. */
  leases(view: CallView): Promise<readonly CallLease[]>;
  /** How many calls of the target run, and how many start before this call as the queue stands; undefined when the call has ended. */
  queuePlace(key: CallKey): Promise<QueuePlace | undefined>;
  /** The command of the call, while it has not left for the bus beside the database. */
  waitingCommand(view: CallView): Promise<WaitingCommand | undefined>;
  /** The limit that holds a queued call back now; undefined when none does. */
  heldBack(key: CallKey): Promise<HeldBack | undefined>;
  /** What never changes about a call; mostly from memory. */
  facts(key: CallKey): Promise<CallFacts>;
  /** Refuses with `lease_lost` unless the call is run under this lease; mostly from memory. */
  checkHeld(facts: CallFacts, leaseId: string | undefined): Promise<void>;
  find(keys: readonly CallKey[]): Promise<readonly CallView[]>;
  list(projectId: string, filter?: CallFilter): Promise<readonly CallView[]>;
  wait(key: CallKey, waitMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Services that asked for work within the last minute. */
  services(projectId: string, target?: string): readonly SeenService[];
  /** A service that fetches its commands from a bus says that it is here. */
  greet(service: Pick<SeenService, "projectId" | "target" | "holder" | "definitions">): void;
  /** Services that asked within the last hour and do so no more. */
  goneServices(projectId: string): readonly SeenService[];
  readonly watch: SettleWatch;
  /** For all parts that end calls without a report. */
  readonly settlements: Settlements;
  /** For calls that run out of time. */
  readonly retries: Retries;
  /** For the calls that steps make. */
  readonly places: CallPlaces;
  readonly gates: Gates;
  stats(): Readonly<Record<string, CoalescerStats>>;
  /** Calls under these leases were handed to no service: they go back to the queue as soon as the database takes it. */
  giveBack(leaseIds: readonly string[]): void;
  /** Ends all waits for work and results; submitted work is finished. */
  drain(): Promise<void>;
}

export interface CallsDeps extends DispatchDeps, Omit<SettlementsDeps, "facts" | "watch"> {
  readonly db: Database;
  readonly log: Log;
  readonly leaseSeconds: number;
  /** Whether services fetch the commands of this target from a bus beside the database. */
  readonly isFetched: (key: TargetKey) => boolean;
}

const checkClaim = (request: ClaimAcrossRequest): void => {
  if (!Number.isInteger(request.max) || request.max < 1 || request.max > MAX_CLAIM)
    throw new ToolplaneError("bad_request", `a claim takes 1 to ${MAX_CLAIM} calls`);
};

export const createCalls = (deps: CallsDeps): Calls => {
  const { db } = deps;
  const reads = createCallReads(db);
  const get = reads.one.submit;
  const known = createFactMemory(db);
  const held = createKnownLeases({ clock: deps.clock, read: get });
  const facts: FactMemory = {
    ...known,
    forget(key) {
      known.forget(key);
      held.forget(key);
    },
  };
  const remember = (leased: LeasedCall): void => {
    known.remember(leased.facts);
    held.remember(leased.facts, leased.lease);
  };
  const seen = createSeenServices(deps.clock.now, deps.log);
  const watch = createSettleWatch(deps);
  const unheard = createGiveBack<readonly string[]>({
    clock: deps.clock,
    forSeconds: deps.leaseSeconds,
    async ask(leaseIds) {
      const given = await db.query(GIVE_BACK, [leaseIds, deps.republishSeconds]);
      if (given.length > 0) deps.doorbell.ring("sessions");
      if (given.length > 0) deps.doorbell.ring("events", "here");
      return given.length > 0;
    },
  });
  const sessionTargets = createSessionTargets(deps);
  const servedVersions = createServedVersions(deps.clock.now);
  const runnablePins = createRunnablePins(deps);
  const gates = createGates(deps);
  const lingering = createLingeringRuns(deps);
  const leases = createLeases({
    ...deps,
    gates,
    lingering,
    sessionTargets,
    servedVersions,
    runnablePins,
    remember,
    giveBack: unheard.giveBack,
  });
  const handover = createHandover(deps.clock.now);
  const line: ClaimLine = createClaimLine({
    ...deps,
    handover,
    claim: leases.claim.submit,
    wakeIn: gates.wakeIn,
    giveBack: unheard.giveBack,
  });
  const across = createClaimAcross({ ...deps, handover, claim: leases.claim.submit, wakeIn: gates.wakeIn });
  const offer = (targets: readonly TargetKey[]): void => {
    for (const key of targets) line.offer(key);
    for (const target of new Set(targets.map((key) => key.target))) across.offer(target);
  };
  const places = createCallPlaces({
    ...deps,
    handover,
    remember,
    expect: known.remember,
    giveBack: unheard.giveBack,
    offer,
    sayDropped: createSayDropped(deps.log),
  });
  const dispatch = createDispatch({ ...deps, places });
  const settlements = createSettlements({ ...deps, facts, watch });
  const retries = createRetries(deps);
  const settle = createSettle({ ...deps, facts, settlements, retries, lingering, runnablePins });
  const cancel = createCancel({ ...deps, facts, settlements });
  const reports = createReports({ ...deps, facts, runnablePins, settle: settle.submit });
  const coalescers = { dispatch, settle, cancel, read: reads.one, ...leases };

  return {
    dispatch: dispatch.submit,
    async call(request, waitMs, signal) {
      const toolCallId = request.toolCallId ?? deps.ids.uuid();
      const expectation = watch.expect({ projectId: request.projectId, toolCallId });
      try {
        const minted = request.toolCallId === undefined;
        const made = await (minted ? dispatch.submitAs(toolCallId, request) : dispatch.submit(request));
        const key = { projectId: request.projectId, toolCallId: made.toolCallId };
        if (made.idempotent) await watch.wait(key, waitMs, signal);
        else await expectation.wait(waitMs, signal);
        const settled = expectation.news();
        return settled === undefined ? await get(key) : answerOfSettled(settled);
      } finally {
        expectation.leave();
      }
    },
    async claim(request, waitMs = 0, signal) {
      checkClaim(request);
      const { projectId, target, holder, definitions } = request;
      const answered = seen.saw(projectId, target, holder, { definitions, safeOnly: request.unwatched });
      servedVersions.saw(request, definitions);
      return line.wait(request, waitMs, signal).finally(() => answered(signal?.aborted === true));
    },
    async claimAcross(request, waitMs = 0, signal) {
      checkClaim(request);
      const answered = seen.saw(EVERY_PROJECT, request.target, request.holder, { definitions: [EVERY_DEFINITION] });
      return across
        .wait({ ...request, definitions: [EVERY_DEFINITION] }, waitMs, signal)
        .finally(() => answered(signal?.aborted === true));
    },
    async lease(request) {
      const { projectId, target, holder, definitions } = request;
      if (target !== undefined) seen.saw(projectId, target, holder, { definitions })(false);
      const leased = await leases.lease.submit(request);
      // The command of the call came over a bus, so this may be the first request of this service.
      if (target === undefined) seen.saw(projectId, leased.facts.target, holder, { definitions })(false);
      return leased;
    },
    async heartbeat(call) {
      const beat = await leases.heartbeat.submit(call);
      if (beat.expiresAt !== null) held.remember(call, { id: call.leaseId, expiresAt: beat.expiresAt });
      return beat;
    },
    async release(call) {
      held.forget(call);
      await leases.release.submit(call);
    },
    giveBack: unheard.giveBack,
    settle: settle.submit,
    putResultCard: reports.putCard,
    report: reports.report,
    cancel: cancel.submit,
    cancelWaiting: createCancelWaiting({ ...deps, cancel: cancel.submit }),
    diagnostics: (key) => readDiagnostics(db, key),
    async pin({ projectId, toolCallId }) {
      const [row] = await db.query<{ pin: string | null }>(READ_PIN, [projectId, toolCallId]);
      return row?.pin ?? undefined;
    },
    async mayRun(projectId, definitions, pin) {
      const pins = await runnablePins.find(projectId, definitions);
      return pins === EVERY_DEFINITION || pins.split(",").includes(pin);
    },
    get,
    leases: (view) => readLeases(db, view),
    queuePlace: (key) => readQueuePlace(db, key),
    waitingCommand: (view) => readWaitingCommand(db, view),
    heldBack: gates.explain,
    async facts(key) {
      const [found] = await facts.recall([key]);
      if (found === undefined) throw noCall(key);
      return found;
    },
    checkHeld: held.check,
    find: reads.find,
    list: createCallList(db, reads.find),
    services: seen.list,
    greet({ projectId, target, holder, definitions }) {
      seen.saw(projectId, target, holder, { definitions })(false);
    },
    goneServices: seen.gone,
    wait: watch.wait,
    watch,
    settlements,
    retries,
    places,
    gates,
    stats: () => Object.fromEntries(Object.entries(coalescers).map(([name, coalescer]) => [name, coalescer.stats()])),
    async drain() {
      line.close();
      across.close();
      sessionTargets.close();
      runnablePins.close();
      watch.close();
      await Promise.all(Object.values(coalescers).map((coalescer) => coalescer.idle()));
      // Callers whose wait just ended read their call once more.
      await reads.one.idle();
      await line.left();
      await unheard.stop();
    },
  };
};
