// Leases: claim, lease by id, heartbeat, release. A lease is a service's time-limited right to run a call. A lease means
// started, so a service takes only what it runs at once.
//   I6. The lease id on the row is the fence: a new holder replaces it, and from then on the old holder can do nothing.
//   Calls of one session run one after the other: the statements take one at a time, and an index guarantees it.
//   When the answer of a claim was lost (the connection broke around the commit), its calls are found by the lease id, or given
//   back, so that an unsafe call that was never started does not end as outcome_unknown.

import { type CommandPayload, isRecord, isToolplaneError, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import { CLAIM_WITH_SESSIONS } from "../sessions/claim-sessions.sql.ts";
import type { SessionTargets } from "../sessions/session-targets.ts";
import type { Database, Statement } from "../sql/database.ts";
import { type CallFacts, type CallKey, type CallView, callKey, isSettled } from "./call.ts";
import {
  bindClaims,
  bindHeld,
  bindLeases,
  bindPlainClaims,
  bindRelease,
  CLAIM,
  CLAIM_PLAIN,
  type ClaimRow,
  HEARTBEAT,
  LEASE,
  RECALL,
  RELEASE,
} from "./lease.sql.ts";
import { bindKeys, type FactRow, factsOf, READ_CALLS, type ViewRow, viewOf } from "./read.sql.ts";
import type { RunnablePins } from "./runnable-pins.ts";
import type { ServedVersions } from "./served-versions.ts";

export interface LeasedCall {
  readonly facts: CallFacts;
  readonly lease: { readonly id: string; readonly expiresAt: Date };
  readonly attempt: number;
  readonly runDeadline: Date;
  /** The tool.call card, canonical text. */
  readonly cardBody: string;
  /** The state that the last call of its session left; undefined at the beginning of a session, and without one. */
  readonly session: JsonObject | undefined;
  readonly command: {
    readonly subject: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly payload: CommandPayload;
  };
}

export interface ClaimRequest {
  readonly projectId: string;
  readonly target: string;
  readonly holder: string;
  readonly max: number;
  /** The definitions the service runs. A pinned call is given only to a service that names its definition. */
  readonly definitions?: readonly string[] | undefined;
}

export interface LineRequest extends ClaimRequest {
  /** A waiting service that a ring tells about calls of sessions: a look without them loses nothing. */
  readonly inLine?: boolean | undefined;
}

export interface LeaseRequest extends CallKey {
  readonly agentTurnId: string;
  readonly callCardId: string;
  readonly holder: string;
  /** The target it was queued for, when known: then a service that is refused counts as one that asks for work. */
  readonly target?: string | undefined;
  /** As in a claim. */
  readonly definitions?: readonly string[] | undefined;
  /** The caller's own mark of this request: asked again under it, because the answer was lost, the lease is the same. */
  readonly ticket?: string | undefined;
}

export interface Held extends CallKey {
  readonly leaseId: string;
}

export interface Beat {
  readonly expiresAt: Date | null;
  /** The call is over (canceled, timed out, stopped): abort the work. */
  readonly cancel: boolean;
}

interface LeasedRow extends FactRow {
  readonly ord: number;
  readonly attempts: number;
  readonly lease_id: string;
  readonly lease_expires_at: Date;
  readonly run_deadline: Date;
  readonly card_body: string;
  readonly session_state: string | null;
}

interface KeptRow {
  readonly ord: number;
  readonly lease_expires_at: Date;
}

export interface LeaseDeps {
  readonly db: Database;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly sessionTargets: SessionTargets;
  readonly servedVersions: ServedVersions;
  readonly runnablePins: Pick<RunnablePins, "find">;
  readonly leaseSeconds: number;
  readonly republishSeconds: number | null;
  readonly observe: CallObserver;
  readonly remember: (leased: LeasedCall) => void;
  /** The calls of these leases were never handed to a service. */
  readonly giveBack: (leaseIds: readonly string[]) => void;
}

export interface Leases {
  readonly claim: Coalescer<LineRequest, readonly LeasedCall[]>;
  readonly lease: Coalescer<LeaseRequest, LeasedCall>;
  readonly heartbeat: Coalescer<Held, Beat>;
  readonly release: Coalescer<Held, void>;
}

/** A row without a call says that calls of sessions wait. */
const isCall = (row: LeasedRow): boolean => row.tool_call_id !== null;

/** A lease, and the command made from the call's facts. */
export const leasedCall = (leased: Omit<LeasedCall, "command">): LeasedCall => {
  const { subject, headers, callCardId, toolName, afterExecution } = leased.facts;
  const payload = { tool_call_card_id: callCardId, tool_name: toolName, after_execution: afterExecution };
  return { ...leased, command: { subject, headers, payload } };
};

const leasedOf = (row: LeasedRow): LeasedCall =>
  leasedCall({
    facts: factsOf(row),
    lease: { id: row.lease_id, expiresAt: row.lease_expires_at },
    attempt: row.attempts,
    runDeadline: row.run_deadline,
    cardBody: row.card_body,
    session: row.session_state === null ? undefined : (JSON.parse(row.session_state) as JsonObject),
  });

const lost = (held: CallKey, view: CallView | undefined): ToolplaneError => {
  if (view === undefined) return new ToolplaneError("not_found", `there is no call ${held.toolCallId} in this project`);
  const now = isSettled(view.status)
    ? `it has settled (${view.status})`
    : view.leaseId === null
      ? "no service holds it"
      : "another service holds it";
  return new ToolplaneError("lease_lost", `the lease on call ${held.toolCallId} is gone: ${now}; stop working on it`);
};

/** Why a call could not be leased: `queued` in the detail means that it can be tried again later. */
const unleased = (request: LeaseRequest, view: CallView | undefined): ToolplaneError => {
  const { toolCallId, agentTurnId, callCardId } = request;
  // Another turn or card: this is not the call that was asked for, although it has its id.
  if (view === undefined || view.agentTurnId !== agentTurnId || view.callCardId !== callCardId)
    return new ToolplaneError("lease_lost", `there is no call ${toolCallId} of this turn and card; forget the command`);
  const { status } = view;
  const why =
    status === "queued"
      ? "it is not due yet, its session is busy, or it is pinned to a definition that this service does not name; try again later"
      : isSettled(status)
        ? `it has settled (${status}); forget the command`
        : `it is ${status}; forget the command`;
  return new ToolplaneError("lease_lost", `call ${toolCallId} cannot be leased: ${why}`, { detail: { status } });
};

/** The index that keeps a session's calls apart. Two statements at one moment are rare, twice in a row very rare. */
const SESSION_INDEX = "live_calls_session_running";
const MAX_RACES = 5;
const RACE_PAUSE_MS = 5;

const isSessionRace = (error: unknown): boolean =>
  isToolplaneError(error) && isRecord(error.detail) && error.detail.constraint === SESSION_INDEX;

export const createLeases = (deps: LeaseDeps): Leases => {
  const { db, faults, ids, leaseSeconds, sessionTargets, servedVersions, runnablePins } = deps;
  let sessionsFirst = false;

  const taken = (rows: readonly LeasedRow[], count: number): LeasedCall[][] => {
    const perItem = Array.from({ length: count }, (): LeasedCall[] => []);
    for (const row of rows) {
      const call = leasedOf(row);
      deps.remember(call);
      deps.observe({ ...call.facts, status: "running" });
      perItem[row.ord - 1]?.push(call);
    }
    return perItem;
  };

  /** Runs a claiming statement, again when another one took a call of the same session at the same moment: nothing was taken. */
  const run = async (statement: Statement, values: unknown[]): Promise<LeasedRow[]> => {
    for (let races = 1; ; races++) {
      try {
        return await db.query<LeasedRow>(statement, values);
      } catch (error) {
        if (!isSessionRace(error) || races >= MAX_RACES) throw error;
        // The server reports it before it has released the rows, which the next try would skip.
        await deps.clock.sleep(RACE_PAUSE_MS * races);
      }
    }
  };

  /** Runs a claiming statement; if its answer is lost, asks what it took, and gives it back if that is not known. */
  const take = async (statement: Statement, values: unknown[], leaseIds: readonly string[]): Promise<LeasedRow[]> => {
    await faults.at("lease:before-commit");
    let rows: LeasedRow[];
    try {
      rows = await run(statement, values);
    } catch (error) {
      if (isSessionRace(error)) throw error;
      rows = await db.query<LeasedRow>(RECALL, [leaseIds]).catch(() => []);
      if (rows.length === 0) {
        deps.giveBack(leaseIds);
        throw error;
      }
    }
    await faults.at("lease:after-commit");
    if (rows.some(isCall)) deps.doorbell.ring("events", "here");
    return rows;
  };

  const takeFor = (statement: Statement, rows: readonly ClaimRow[]): Promise<LeasedRow[]> =>
    take(
      statement,
      statement === CLAIM_PLAIN ? bindPlainClaims(rows) : bindClaims(rows),
      rows.map((row) => row.leaseId),
    );

  const noted = (items: readonly LineRequest[], perItem: LeasedCall[][]): LeasedCall[][] => {
    for (const [index, item] of items.entries()) {
      const calls = perItem[index] ?? [];
      if (calls.length > 0 && item.definitions !== undefined)
        servedVersions.took(
          item,
          item.definitions,
          calls.map(({ facts }) => facts.definitionHash),
        );
    }
    return perItem;
  };

  const claim = createCoalescer<LineRequest, readonly LeasedCall[]>({
    keyOf: (item) => `${item.projectId}/${item.target}`,
    flush: async (items) => {
      sessionsFirst = !sessionsFirst;
      const rows = await Promise.all(
        items.map(async (item) => ({
          ...item,
          leaseId: ids.uuid(),
          leaseSeconds,
          sessionsFirst,
          named: item.definitions?.join(",") ?? "",
          pins: await runnablePins.find(item.projectId, item.definitions),
          prefers: item.definitions !== undefined && servedVersions.isMixed(item),
        })),
      );
      const isApart = (row: ClaimRow): boolean => row.prefers || sessionTargets.knows(row);
      if (rows.some(isApart)) return noted(items, taken(await takeFor(CLAIM_WITH_SESSIONS, rows), items.length));
      if (items.every((item) => item.inLine === true && sessionTargets.isQuiet(item)))
        return noted(items, taken(await takeFor(CLAIM_PLAIN, rows), items.length));
      const look = sessionTargets.look();
      const found = await takeFor(CLAIM, rows);
      const calls = taken(found.filter(isCall), items.length);
      // Calls of sessions, or pinned ones, wait at a target that had none: from now on this process looks for them at once.
      const waiting = found.flatMap((row) => (isCall(row) ? [] : [row.ord - 1]));
      for (const row of rows) sessionTargets.hush(row, look);
      for (const index of waiting) sessionTargets.learn(rows[index] as ClaimRow);
      const short = waiting.filter((index) => (calls[index]?.length ?? 0) < (rows[index]?.max ?? 0));
      if (short.length === 0) return noted(items, calls);
      const rest = short.map((index) => {
        const row = rows[index] as ClaimRow;
        return { ...row, max: row.max - (calls[index]?.length ?? 0) };
      });
      const more = taken(await takeFor(CLAIM_WITH_SESSIONS, rest), rest.length);
      for (const [place, index] of short.entries()) calls[index]?.push(...(more[place] ?? []));
      return noted(items, calls);
    },
  });

  /** The state of calls whose lease was not what the caller thought, by key. */
  const readLost = async (items: readonly CallKey[]): Promise<ReadonlyMap<string, CallView>> => {
    if (items.length === 0) return new Map();
    const rows = await db.query<ViewRow>(READ_CALLS, bindKeys(items));
    return new Map(rows.map(viewOf).map((view) => [callKey(view), view]));
  };

  /** With the call's id: one ticket for several calls must not give them the same lease. */
  const leaseIdOf = ({ ticket, toolCallId }: LeaseRequest): string =>
    ticket === undefined ? ids.uuid() : `${ticket}:${toolCallId}`;

  /** What these requests took when they were sent before. */
  const recall = async (leaseIds: readonly string[]): Promise<ReadonlyMap<string, LeasedCall>> => {
    if (leaseIds.length === 0) return new Map();
    const rows = await db.query<LeasedRow>(RECALL, [leaseIds]);
    return new Map(rows.map(leasedOf).map((call) => [call.lease.id, call]));
  };

  const lease = createCoalescer<LeaseRequest, LeasedCall>({
    keyOf: callKey,
    flush: async (items) => {
      const rows = await Promise.all(
        items.map(async (item) => ({
          ...item,
          leaseId: leaseIdOf(item),
          leaseSeconds,
          pins: await runnablePins.find(item.projectId, item.definitions),
        })),
      );
      const leaseIds = rows.map((row) => row.leaseId);
      const perItem = taken(await take(LEASE, bindLeases(rows), leaseIds), items.length);
      const refused = rows.filter((_, index) => perItem[index]?.length === 0);
      const views = await readLost(refused);
      const isOurs = (row: (typeof rows)[number]): boolean => {
        const view = views.get(callKey(row));
        return view?.leaseId === row.leaseId && view.agentTurnId === row.agentTurnId;
      };
      const recalled = await recall(refused.filter(isOurs).map((row) => row.leaseId));
      return rows.map(
        (row, index) => perItem[index]?.[0] ?? recalled.get(row.leaseId) ?? unleased(row, views.get(callKey(row))),
      );
    },
  });

  const heartbeat = createCoalescer<Held, Beat>({
    keyOf: callKey,
    flush: async (items) => {
      await faults.at("heartbeat:before-commit");
      const rows = await db.query<KeptRow>(HEARTBEAT, bindHeld(items.map((item) => ({ ...item, leaseSeconds }))));
      await faults.at("heartbeat:after-commit");
      const kept = new Map(rows.map((row) => [items[row.ord - 1], row.lease_expires_at]));
      const views = await readLost(items.filter((item) => !kept.has(item)));
      return items.map((item): Beat | Error => {
        const expiresAt = kept.get(item);
        if (expiresAt !== undefined) return { expiresAt, cancel: false };
        const view = views.get(callKey(item));
        // Settled by another party while this holder had it (cancel, stop, deadline): the lease id is still the holder's.
        if (view !== undefined && isSettled(view.status) && view.leaseId === item.leaseId)
          return { expiresAt: null, cancel: true };
        return lost(item, view);
      });
    },
  });

  const release = createCoalescer<Held, void>({
    keyOf: callKey,
    flush: async (items) => {
      await faults.at("release:before-commit");
      const rows = await db.query<{ ord: number }>(
        RELEASE,
        bindRelease(
          items.map((item) => ({ ...item, leaseSeconds })),
          deps.republishSeconds,
        ),
      );
      await faults.at("release:after-commit");
      const given = new Set(rows.map((row) => items[row.ord - 1]));
      if (given.size > 0) deps.doorbell.ring("sessions");
      if (given.size > 0) deps.doorbell.ring("events", "here");
      const views = await readLost(items.filter((item) => !given.has(item)));
      return items.map((item) => (given.has(item) ? undefined : lost(item, views.get(callKey(item)))));
    },
  });

  return { claim, lease, heartbeat, release };
};
