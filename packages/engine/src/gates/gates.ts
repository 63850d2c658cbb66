// Claims of limited calls. Whatever starts a run - a claim, an exchange, a command from a bus, the plane's own services - leases its
// call here when a limit holds the call.
//   GT1. A look without a lock comes first: where no limited call waits, or no gate has room, nothing else is done.
//   GT2. Under the lock of its project: read the gates and what waits, decide (plan-passage.ts), lease, remember. All in one transaction.
//   GT3. Slots are counted from the leases on the rows. A holder that dies keeps its slot until its lease has lapsed and no longer.
//   GT4. When time alone decides when the next call may pass, the services that wait learn how long that is (`wakeIn`). When a slot becomes
//        free, the bell "sessions" rings, which every waiting service hears.
//   GT5. A service that has a command from a bus asks for that call by its id and does not wait here. When only time opens the gate, it is told
//        when to ask again (`askAgainIn`). Each token is promised to one call, so that not all calls come at once.

import { type CallKey, callKey } from "../calls/call.ts";
import type { ClaimRow, LeaseRow } from "../calls/lease.sql.ts";
import type { LeasedRow } from "../calls/take-calls.ts";
import type { Clock } from "../ports/clock.ts";
import { createRecent } from "../recent/recent.ts";
import { type TargetKey, targetKey } from "../sessions/session-targets.ts";
import type { Database, Queryer } from "../sql/database.ts";
import { type GateBlock, type GateLimits, type GateState, PROJECT_GATE, targetOfGate, toolOfGate } from "./gate.ts";
import {
  bindCalls,
  bindMarks,
  bindPassed,
  bindPlaces,
  type GateRow,
  gateStateOf,
  LOCK_PROJECTS,
  MARK_GATES,
  type PassedRow,
  READ_GATES_OF_CALLS,
  READ_SLOTS,
  READ_WAITING_GATES,
  type SlotRow,
  TAKE_PASSED,
} from "./gates.sql.ts";
import { bindHeldCalls, SEND_PASSED } from "./held-calls.sql.ts";
import { lookAtGates } from "./look-at-gates.ts";
import { type GateMark, gateKey, type Passer, planPassage, type WaitingCall } from "./plan-passage.ts";
import { planRoom, tellableMs, tokenMs } from "./plan-room.ts";
import {
  bindLines,
  bindNamed,
  READ_NAMED_CALLS,
  READ_WAITING_CALLS,
  type WaitingCallRow,
} from "./waiting-calls.sql.ts";

/** Why a queued call may not pass its gate now. */
export interface HeldBack {
  /** The tool whose limit holds the call; undefined when the limit is of its project or target. */
  readonly toolName: string | undefined;
  /** The target whose breaker holds the call. */
  readonly target: string | undefined;
  readonly blockedBy: GateBlock;
  readonly limits: GateLimits;
  readonly running: number;
  /** When time alone opens the gate. */
  readonly nextAt: Date | undefined;
  readonly openedAt: Date | undefined;
  /** Some of the calls that hold the slots, in the order in which they must end. */
  readonly slots: readonly {
    readonly toolCallId: string;
    readonly holder: string | null;
    readonly startedAt: Date | null;
    /** When its slot is free if its service is not heard; null for a service without leases. */
    readonly leaseUntil: Date | null;
    /** When it leaves the slot at the latest. */
    readonly runDeadline: Date | null;
    /** The status of a call that has ended while its service runs it; null while it is open. */
    readonly endedAs: string | null;
  }[];
}

export interface Gates {
  /** Remembers that limited calls wait at this target. */
  learn(key: TargetKey): void;
  knows(key: TargetKey): boolean;
  /** Leases limited calls for these claims; `ord` of a row is the place of its claim, from 1. */
  claim(rows: readonly ClaimRow[]): Promise<readonly LeasedRow[]>;
  /** Leases limited calls that services ask for by their ids. */
  lease(rows: readonly LeaseRow[]): Promise<readonly LeasedRow[]>;
  /** Sends the commands of calls for services that never lease, as far as their gates let them pass. Resolves to how many were sent. */
  send(places: readonly TargetKey[]): Promise<number>;
  /** Milliseconds after which the service may ask again for a call that it did not get; undefined when this process does not know. */
  askAgainIn(key: CallKey): number | undefined;
  /** What holds this call back; undefined when it waits at no gate, or the gate has room. */
  explain(key: CallKey): Promise<HeldBack | undefined>;
  /** Milliseconds until a limited call of the target may pass; undefined when this process does not know. */
  wakeIn(key: { readonly projectId?: string | undefined; readonly target: string }): number | undefined;
}

/** More names do not help a reader of one sentence. */
const SLOTS_SHOWN = 3;

/** New commands may take a token first. So a command is never told to wait for longer than this after the next token. */
const FARTHEST_MS = 1_000;
/** Commands that are out at once. */
const MAX_TOLD = 10_000;

/** More targets than one process serves. */
const MAX_REMEMBERED = 1_024;
/** How many commands of one target are sent in one transaction. */
const MOST_SENT = 256;

/** A request for calls that wait at a target. */
type Waiter = Pick<ClaimRow, "projectId" | "target" | "max" | "pins"> & Partial<Pick<ClaimRow, "safeOnly">>;

const tokenMsOf = ({ limits }: GateRow): number => (limits?.rate === undefined ? 0 : tokenMs(limits.rate));

const waitingOf = (row: WaitingCallRow): WaitingCall => ({
  ord: row.ord,
  gate: row.gate,
  lane: row.lane,
  toolCallId: row.tool_call_id,
});

const projectsOf = (rows: readonly { readonly projectId: string }[]): readonly string[] =>
  [...new Set(rows.map(({ projectId }) => projectId))].sort();

/** A gate is read once for each request that waits there; it is one gate. */
const distinct = (rows: readonly GateRow[]): readonly GateState[] => [
  ...new Map(rows.map(gateStateOf).map((state) => [gateKey(state), state])).values(),
];

export const createGates = ({ db, clock }: { readonly db: Database; readonly clock: Clock }): Gates => {
  const known = createRecent<TargetKey>(MAX_REMEMBERED);
  /** When the next call of a target may pass. */
  const wakeAt = createRecent<{ readonly key: TargetKey; readonly at: number }>(MAX_REMEMBERED);

  /** When calls were told to ask again, and the last time that was told for a gate. */
  const told = createRecent<{ readonly at: number }>(MAX_TOLD);
  const lastTold = createRecent<{ readonly at: number }>(MAX_REMEMBERED);

  /** GT5, for the calls that did not pass. */
  const tellTimes = (rows: readonly LeaseRow[], gates: readonly GateRow[], passed: ReadonlySet<number>): void => {
    const now = clock.now();
    for (const [index, row] of rows.entries()) {
      told.delete(callKey(row));
      const held = closedTarget(gates, index + 1) ?? gates.find((gate) => gate.ord === index + 1 && gate.waits);
      if (passed.has(index + 1) || held === undefined) continue;
      const room = roomOf(held);
      // At a rate with a token left, one of several calls that asked at once took that token.
      const wait = tellableMs(room) ?? (room.blockedBy === "rate" ? tokenMsOf(held) : undefined);
      if (wait === undefined) continue;
      const name = gateKey({ projectId: held.project_id, gate: held.gate });
      const first = now + Math.ceil(wait) + 1;
      const behind = (lastTold.get(name)?.at ?? 0) + tokenMsOf(held);
      const at = Math.min(Math.max(first, behind), first + FARTHEST_MS);
      lastTold.set(name, { at });
      told.set(callKey(row), { at });
    }
  };

  const roomOf = (row: GateRow) => planRoom(gateStateOf(row));
  /** The gate of the target of a request that lets nothing pass. */
  const closedTarget = (rows: readonly GateRow[], ord: number): GateRow | undefined =>
    rows.find((row) => row.ord === ord && targetOfGate(row.gate) !== undefined && roomOf(row).room === 0);

  /** Only what time alone will open is worth a look at a certain time; a freed slot rings. */
  const noteTimes = (rows: readonly TargetKey[], found: readonly GateRow[]): void => {
    for (const [index, key] of rows.entries()) {
      const closed = closedTarget(found, index + 1);
      const own = found.filter((row) => row.ord === index + 1 && (row.waits || row.gate === PROJECT_GATE));
      const waited = closed === undefined ? own : [closed];
      const times = waited.flatMap((row) => {
        const { room, nextMs } = roomOf(row);
        return room === 0 && nextMs !== undefined ? [nextMs] : [];
      });
      if (times.length === 0) wakeAt.delete(targetKey(key));
      // A timer that fires a moment too early would find the gate closed.
      else wakeAt.set(targetKey(key), { key, at: clock.now() + Math.ceil(Math.min(...times)) + 1 });
    }
  };

  /** The gates where calls wait and may pass: there is room, also in their project and their target. */
  const openOnes = (rows: readonly GateRow[]): readonly GateRow[] => {
    const hasRoom = (row: GateRow): boolean => roomOf(row).room > 0;
    const full = new Set(rows.filter((row) => row.gate === PROJECT_GATE && !hasRoom(row)).map((row) => row.project_id));
    return rows.filter(
      (row) => row.waits && hasRoom(row) && !full.has(row.project_id) && closedTarget(rows, row.ord) === undefined,
    );
  };

  /** No gate of these is open, and neither their project nor their target is what closes them. */
  const goesOn = (own: readonly GateRow[]): boolean =>
    openOnes(own).length === 0 && own.every((row) => row.waits || roomOf(row).room > 0);

  const pass = async <Taken>(
    tx: Queryer,
    gates: readonly GateRow[],
    passers: readonly Passer[],
    waiting: readonly WaitingCallRow[],
    takePassed: (calls: readonly WaitingCall[]) => Promise<readonly Taken[]>,
    passed: (marks: readonly GateMark[]) => void,
  ): Promise<readonly Taken[]> => {
    const targetGates = new Map(
      gates.flatMap(({ ord, gate }) => (targetOfGate(gate) === undefined ? [] : [[ord, gate] as const])),
    );
    const aimed = passers.map((passer, index) => ({ ...passer, targetGate: targetGates.get(index + 1) }));
    const plan = planPassage(distinct(gates), aimed, waiting.map(waitingOf));
    passed(plan.marks);
    if (plan.passed.length === 0) return [];
    const taken = await takePassed(plan.passed);
    if (plan.marks.length > 0) await tx.query(MARK_GATES, bindMarks(plan.marks));
    return taken;
  };

  const leasing =
    (tx: Queryer, rows: readonly (LeaseRow | ClaimRow)[]) =>
    async (calls: readonly WaitingCall[]): Promise<readonly LeasedRow[]> => {
      const passed = calls.map(({ ord, toolCallId }): PassedRow => {
        const { projectId, leaseId, holder, leaseSeconds } = rows[ord] as LeaseRow | ClaimRow;
        return { request: ord + 1, projectId, toolCallId, leaseId, holder, leaseSeconds };
      });
      return tx.query<LeasedRow>(TAKE_PASSED, bindPassed(passed));
    };

  /** GT1 and GT2 for calls that wait at these targets. */
  const passWaiting = async <Taken>(
    rows: readonly Waiter[],
    plainOnly: boolean,
    taking: (tx: Queryer) => (calls: readonly WaitingCall[]) => Promise<readonly Taken[]>,
  ): Promise<readonly Taken[]> => {
    const { seen, places } = await lookAtGates(db, rows, goesOn);
    noteTimes(rows, seen);
    if (openOnes(seen).length === 0) return [];
    return db.transaction(async (tx) => {
      await tx.query(LOCK_PROJECTS, [projectsOf(rows)]);
      const gates = await tx.query<GateRow>(READ_WAITING_GATES, bindPlaces(places));
      const lines = openOnes(gates).flatMap((gate) => {
        const row = rows[gate.ord - 1];
        if (row === undefined) return [];
        const { projectId, target, pins, safeOnly = false } = row;
        const about = { ord: gate.ord - 1, projectId, target, gate: gate.gate, afterLane: gate.last_lane ?? "", pins };
        return [{ ...about, most: Math.min(row.max, roomOf(gate).room), plainOnly, safeOnly }];
      });
      const waiting = lines.length === 0 ? [] : await tx.query<WaitingCallRow>(READ_WAITING_CALLS, bindLines(lines));
      return pass(tx, gates, rows, waiting, taking(tx), (marks) =>
        noteTimes(rows, afterwards([...seen, ...gates], marks)),
      );
    });
  };

  /** The gates after the passage, as far as time decides when the next call may pass. */
  const afterwards = (gates: readonly GateRow[], marks: readonly GateMark[]): readonly GateRow[] => {
    const fullAt = new Map(marks.map((mark) => [gateKey(mark), mark.fullAtMs]));
    return gates.map((row) => {
      const ms = fullAt.get(gateKey({ projectId: row.project_id, gate: row.gate }));
      return ms === undefined ? row : { ...row, full_at_ms: ms };
    });
  };

  return {
    learn: (key) => known.set(targetKey(key), key),
    knows: (key) => known.get(targetKey(key)) !== undefined,
    claim: (rows) => passWaiting(rows, false, (tx) => leasing(tx, rows)),
    async send(places) {
      const rows = places.map((place) => ({ ...place, max: MOST_SENT, pins: "*" }));
      const sent = await passWaiting(rows, true, (tx) => (calls) => {
        const passed = calls.map(({ ord, toolCallId }) => ({ projectId: rows[ord]?.projectId ?? "", toolCallId }));
        return tx.query(SEND_PASSED, bindHeldCalls(passed));
      });
      return sent.length;
    },
    async lease(rows) {
      const seen = await db.query<GateRow>(READ_GATES_OF_CALLS, bindCalls(rows));
      if (openOnes(seen).length === 0) {
        tellTimes(rows, seen, new Set());
        return [];
      }
      return db.transaction(async (tx) => {
        await tx.query(LOCK_PROJECTS, [projectsOf(rows)]);
        const gates = await tx.query<GateRow>(READ_GATES_OF_CALLS, bindCalls(rows));
        const waiting = await tx.query<WaitingCallRow>(READ_NAMED_CALLS, bindNamed(rows));
        const passers = rows.map(({ projectId }) => ({ projectId, max: 1 }));
        let after = gates;
        const leased = await pass(tx, gates, passers, waiting, leasing(tx, rows), (marks) => {
          after = [...afterwards(gates, marks)];
        });
        tellTimes(rows, after, new Set(leased.map(({ ord }) => ord)));
        return leased;
      });
    },
    askAgainIn(key) {
      const at = told.get(callKey(key))?.at;
      return at === undefined ? undefined : Math.max(at - clock.now(), 0);
    },
    async explain({ projectId, toolCallId }) {
      const rows = await db.query<GateRow>(READ_GATES_OF_CALLS, bindCalls([{ projectId, toolCallId, pins: "" }]));
      for (const state of distinct(rows)) {
        const room = planRoom(state);
        const { blockedBy } = room;
        if (room.room > 0 || blockedBy === undefined) continue;
        const nextMs = tellableMs(room);
        const slots = await db.query<SlotRow>(READ_SLOTS, [
          ...[projectId, state.gate, SLOTS_SHOWN],
          blockedBy === "breaker",
        ]);
        return {
          toolName: toolOfGate(state.gate),
          target: targetOfGate(state.gate),
          blockedBy,
          limits: state.limits,
          running: blockedBy === "breaker" ? state.trials : state.running,
          nextAt: nextMs === undefined ? undefined : new Date(state.nowMs + nextMs),
          openedAt: state.openedAtMs === null ? undefined : new Date(state.openedAtMs),
          slots: slots.map((row) => ({
            toolCallId: row.tool_call_id,
            holder: row.lease_holder,
            startedAt: row.started_at,
            leaseUntil: row.lease_until,
            runDeadline: row.run_deadline,
            endedAs: row.ended_as,
          })),
        };
      }
      return undefined;
    },
    wakeIn({ projectId, target }) {
      const times = [...wakeAt.values()].filter(
        ({ key }) => key.target === target && (projectId === undefined || key.projectId === projectId),
      );
      return times.length === 0 ? undefined : Math.max(Math.min(...times.map(({ at }) => at)) - clock.now(), 0);
    },
  };
};
