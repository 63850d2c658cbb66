// Claims: calls of a target for a service that asks for work.
//   CM1. A claim takes calls from all lanes of the queue, one lane for each agent (lease.sql.ts): a thousand calls of one agent do
//        not keep the call of another agent waiting. When there are more lanes than calls to take, the next claim goes on behind the last.
//   CM2. Calls that a limit holds are claimed at their gates (gates/), in turns with the others, and only at targets that have some.
//   CM3. A claim takes a few megabytes at most (lease.sql.ts): calls with large arguments are claimed a few at a time. What was taken
//        beyond is given back, and later claims of the target ask for fewer.
//   CM4. A service whose door does not see when it is gone takes only calls that may run again. When it finds none and others wait, its
//        claim is refused: the service has to fetch their commands, or another one must.

import { showName, ToolplaneError } from "@toolplane/protocol";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import type { Gates } from "../gates/gates.ts";
import type { Ids } from "../ports/ids.ts";
import { createRecent } from "../recent/recent.ts";
import { CLAIM_WITH_SESSIONS } from "../sessions/claim-sessions.sql.ts";
import { type SessionTargets, targetKey } from "../sessions/session-targets.ts";
import type { Database, Statement } from "../sql/database.ts";
import { firstLease, type Standing } from "./handover.ts";
import {
  bindClaims,
  bindFirstLineClaims,
  CLAIM,
  CLAIM_BYTES,
  CLAIM_FIRST_LINE,
  type ClaimRow,
  LIMITED_WAIT,
  SESSIONS_WAIT,
  UNSAFE_WAIT,
} from "./lease.sql.ts";
import type { RunnablePins } from "./runnable-pins.ts";
import type { ServedVersions } from "./served-versions.ts";
import { isCall, type LeasedCall, type LeasedRow, type TakeCalls } from "./take-calls.ts";

export interface ClaimRequest {
  readonly projectId: string;
  readonly target: string;
  readonly holder: string;
  readonly max: number;
  /** The definitions the service runs. A pinned call is given only to a service that names its definition. */
  readonly definitions?: readonly string[] | undefined;
  /** A service in this process that comes back after each claim (handover.ts, HO4). */
  readonly standing?: Standing | undefined;
  /** The door of the service does not see when it is gone: only for services of calls that may run again (handover.ts, HO5). */
  readonly unwatched?: boolean | undefined;
}

export interface LineRequest extends ClaimRequest {
  /** A waiting service that a ring tells about calls of sessions: a look without them loses nothing. */
  readonly inLine?: boolean | undefined;
}

export interface ClaimDeps extends TakeCalls {
  readonly db: Database;
  readonly ids: Ids;
  readonly sessionTargets: SessionTargets;
  readonly servedVersions: ServedVersions;
  readonly runnablePins: Pick<RunnablePins, "find">;
  readonly gates: Gates;
  readonly leaseSeconds: number;
}

/** How many calls one claim takes. */
export const MAX_CLAIM = 256;
/** More targets than one process serves. */
const MAX_TARGETS = 1_024;

const leaseIdsOf = (rows: readonly ClaimRow[]): readonly string[] => rows.map(({ leaseId }) => leaseId);

const noneSafe = ({ target }: ClaimRequest): ToolplaneError =>
  new ToolplaneError(
    "bad_request",
    `calls of ${showName(target)} wait that may not run twice: fetch their commands from the target's durable and ask for each with lease`,
  );

/** On average; a claim that did not fit has as many bytes as it may. */
const bytesPerCall = (rows: readonly LeasedRow[]): number => {
  const whole = rows.filter(({ card_body }) => card_body !== null);
  const bytes = whole.reduce((sum, { card_body }) => sum + (card_body?.length ?? 0), 0);
  return (whole.length < rows.length ? CLAIM_BYTES : bytes) / Math.max(1, whole.length);
};

/** The last of the lanes in the order in which they were served: those behind `after`, then the others. */
const lastInTurn = (rows: readonly LeasedRow[], after: string): string => {
  const lanes = rows.map(({ lane }) => lane).sort();
  return lanes.filter((lane) => lane <= after).at(-1) ?? lanes.at(-1) ?? "";
};

/** When a further statement fails, the calls that were taken before it are still handed out: otherwise their leases would lapse. */
const orNothing = (taking: Promise<readonly LeasedRow[]>): Promise<readonly LeasedRow[]> => taking.catch(() => []);

export const createClaims = (deps: ClaimDeps): Coalescer<LineRequest, readonly LeasedCall[]> => {
  const { db, ids, leaseSeconds, sessionTargets, servedVersions, runnablePins, gates, take, deal } = deps;
  let sessionsFirst = false;
  let limitedFirst = false;
  /** Behind which lane the next claim of a target begins. */
  const lastLanes = createRecent<string>(MAX_TARGETS);

  /** How many calls of a target fit into a claim, where its calls are large. */
  const mostCalls = createRecent<number>(MAX_TARGETS);

  const weigh = (rows: readonly ClaimRow[], found: readonly LeasedRow[]): void => {
    const perClaim = Map.groupBy(found.filter(isCall), ({ ord }) => ord);
    for (const [ord, own] of perClaim) {
      const target = targetKey(rows[ord - 1] as ClaimRow);
      const most = Math.max(1, Math.floor(CLAIM_BYTES / Math.max(1, bytesPerCall(own))));
      if (most < MAX_CLAIM) mostCalls.set(target, most);
      else mostCalls.delete(target);
    }
  };

  const takeFor = async (statement: Statement, rows: readonly ClaimRow[]): Promise<readonly LeasedRow[]> => {
    const values = (): unknown[] => (statement === CLAIM_FIRST_LINE ? bindFirstLineClaims(rows) : bindClaims(rows));
    const found = await take(() => db.query<LeasedRow>(statement, values()), leaseIdsOf(rows));
    weigh(rows, found);
    return found;
  };

  /** What the rows of a statement leave open of the claims they are for, with the places of those claims. */
  const shortOf = (rows: readonly ClaimRow[], found: readonly LeasedRow[]): { index: number; row: ClaimRow }[] =>
    rows.flatMap((row, index) => {
      const own = found.filter(({ ord, lanes }) => ord === index + 1 && lanes > 0);
      const lanes = Math.max(0, ...own.map((one) => one.lanes));
      if (lanes >= row.max) lastLanes.set(targetKey(row), lastInTurn(own, row.afterLane));
      const max = row.max - own.length;
      return max > 0 && lanes > 1 ? [{ index, row: { ...row, max, leaseId: ids.uuid() } }] : [];
    });

  /** A claim that was shared between lanes and got less than it asked for takes the rest: some lanes may have more. */
  const fill = async (statement: Statement, rows: readonly ClaimRow[]): Promise<readonly LeasedRow[]> => {
    const all: LeasedRow[] = [...(await takeFor(statement, rows))];
    for (let short = shortOf(rows, all); short.length > 0; ) {
      const rest = short.map(({ row }) => row);
      const places = short.map(({ index }) => index);
      const more = await orNothing(takeFor(statement === CLAIM ? CLAIM_FIRST_LINE : statement, rest));
      all.push(...more.map((row) => ({ ...row, ord: (places[row.ord - 1] ?? 0) + 1 })));
      short = shortOf(rest, more).map(({ index, row }) => ({ index: places[index] ?? 0, row }));
    }
    return all;
  };

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

  /** Calls that no limit holds, one list for each claim. `unsafe` gets the targets whose claims found only calls that CM4 keeps from them. */
  const claimFree = async (
    items: readonly LineRequest[],
    rows: readonly ClaimRow[],
    unsafe: Set<string>,
  ): Promise<LeasedCall[][]> => {
    const isApart = (row: ClaimRow): boolean => row.prefers || sessionTargets.knows(row);
    const learn = (found: readonly LeasedRow[]): void => {
      for (const { ord, lane } of found.filter((row) => !isCall(row))) {
        const row = rows[ord - 1] as ClaimRow;
        if (lane === LIMITED_WAIT) gates.learn(row);
        if (lane === UNSAFE_WAIT) unsafe.add(targetKey(row));
      }
    };
    if (rows.some(isApart)) {
      const found = await fill(CLAIM_WITH_SESSIONS, rows);
      learn(found);
      return deal(found, rows.length);
    }
    if (items.every((item) => item.inLine === true && item.unwatched !== true && sessionTargets.isQuiet(item)))
      return deal(await fill(CLAIM_FIRST_LINE, rows), rows.length);
    const look = sessionTargets.look();
    const found = await fill(CLAIM, rows);
    learn(found);
    const calls = deal(found, rows.length);
    for (const row of rows) sessionTargets.hush(row, look);
    // Calls of sessions, or pinned ones, wait at a target that had none: from now on this process looks for them at once.
    const waiting = found.flatMap((row) => (!isCall(row) && row.lane === SESSIONS_WAIT ? [row.ord - 1] : []));
    for (const index of waiting) sessionTargets.learn(rows[index] as ClaimRow);
    const short = waiting.filter((index) => (calls[index]?.length ?? 0) < (rows[index]?.max ?? 0));
    if (short.length === 0) return calls;
    const rest = short.map((index) => {
      const row = rows[index] as ClaimRow;
      return { ...row, max: row.max - (calls[index]?.length ?? 0), leaseId: ids.uuid() };
    });
    const taking = fill(CLAIM_WITH_SESSIONS, rest);
    const more = deal(await (calls.some(({ length }) => length > 0) ? orNothing(taking) : taking), rest.length);
    for (const [place, index] of short.entries()) calls[index]?.push(...(more[place] ?? []));
    return calls;
  };

  /** Calls that wait at a gate, where some are known to. */
  const claimLimited = async (rows: readonly ClaimRow[], isFirst: boolean): Promise<LeasedCall[][]> => {
    const places = rows.flatMap((row, index) => (row.max > 0 && gates.knows(row) ? [index] : []));
    const asking = places.map((index) => ({ ...(rows[index] as ClaimRow), leaseId: ids.uuid() }));
    const perItem = rows.map((): LeasedCall[] => []);
    if (asking.length === 0) return perItem;
    const taking = take(() => gates.claim(asking), leaseIdsOf(asking));
    const calls = deal(await (isFirst ? taking : orNothing(taking)), asking.length);
    for (const [place, index] of places.entries()) perItem[index]?.push(...(calls[place] ?? []));
    return perItem;
  };

  return createCoalescer<LineRequest, readonly LeasedCall[]>({
    keyOf: (item) => targetKey(item),
    flush: async (items) => {
      sessionsFirst = !sessionsFirst;
      const rows = await Promise.all(
        items.map(async (item) => ({
          ...item,
          max: Math.min(item.max, mostCalls.get(targetKey(item)) ?? item.max),
          afterLane: lastLanes.get(targetKey(item)) ?? "",
          leaseId: ids.uuid(),
          leaseSeconds: firstLease(leaseSeconds, item.unwatched),
          safeOnly: item.unwatched === true,
          sessionsFirst,
          named: item.definitions?.join(",") ?? "",
          pins: await runnablePins.find(item.projectId, item.definitions),
          prefers: item.definitions !== undefined && servedVersions.isMixed(item),
        })),
      );
      // In turns, so that neither waits for ever when not all fit.
      limitedFirst = !limitedFirst;
      const calls = rows.map((): LeasedCall[] => []);
      const add = (more: readonly (readonly LeasedCall[])[]): void => {
        for (const [index, found] of more.entries()) calls[index]?.push(...found);
      };
      const left = (): ClaimRow[] => rows.map((row, index) => ({ ...row, max: row.max - (calls[index]?.length ?? 0) }));
      const asked = rows.map((row) => limitedFirst && gates.knows(row));
      if (limitedFirst) add(await claimLimited(rows, true));
      const open = left().flatMap((row, index) =>
        row.max > 0 ? [{ row, index, item: items[index] as LineRequest }] : [],
      );
      const unsafe = new Set<string>();
      const free =
        open.length === 0
          ? []
          : await claimFree(
              open.map(({ item }) => item),
              open.map(({ row }) => row),
              unsafe,
            ).catch((error: unknown) => {
              if (calls.every(({ length }) => length === 0)) throw error;
              return [];
            });
      for (const [place, { index }] of open.entries()) calls[index]?.push(...(free[place] ?? []));
      // A look may just have found that limited calls wait.
      const rest = left().map((row, index) => (asked[index] === true ? { ...row, max: 0 } : row));
      add(
        await claimLimited(
          rest,
          calls.every(({ length }) => length === 0),
        ),
      );
      return noted(items, calls).map((taken, index) => {
        const item = items[index] as LineRequest;
        return taken.length === 0 && unsafe.has(targetKey(item)) ? noneSafe(item) : taken;
      });
    },
  });
};
