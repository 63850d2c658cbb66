// One sweep over the calls that are due: read and lock, decide, write, in one transaction. Rows that others hold are
// skipped, so any number of processes may sweep at once; a sweep takes a bounded number. A sweep that fails is done again
// call by call.
//   DU1. Projects take turns, and of a project its running calls come first: thirty thousand calls of one project that fall due
//        together do not keep the call of a dead service of another from being offered again.
//   DU2. A sweep looks at a part of the line many times as long as what it takes, and the next sweep goes on behind that part. So
//        every due call is looked at after a few sweeps, however many stand before it.

import { callKey } from "../calls/call.ts";
import { readCandidates } from "../calls/candidates.ts";
import { commandPayloadText } from "../calls/plan-call.ts";
import { engineFailure, type Settlement } from "../calls/plan-settlement.ts";
import { type FactRow, factsOf } from "../calls/read.sql.ts";
import type { PlannedRetry, Retries } from "../calls/retries.ts";
import type { Settlements } from "../calls/settlements.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import { isAway } from "../sql/database-error.ts";
import { type DueCall, type Expiry, type ExpiryPolicy, planExpiry } from "./plan-expiry.ts";
import {
  BURY,
  bindDeadLetters,
  bindPostpone,
  bindRequeue,
  type DeadLetterRow,
  LINE_START,
  POSTPONE,
  READ_DUE,
  READ_DUE_CALL,
  READ_DUE_KEYS,
  REQUEUE,
} from "./watchdog.sql.ts";

interface DueRow extends FactRow {
  readonly status: DueCall["status"];
  readonly attempts: number;
  readonly publishes: number;
  readonly lease_id: string | null;
  readonly lease_holder: string | null;
  readonly queue_over: boolean;
  readonly run_over: boolean;
  readonly lease_over: boolean;
  readonly lapses_first: boolean;
  readonly lapses: number;
  readonly age_seconds: number;
  readonly put_off: boolean;
  readonly out_of_queue: boolean;
  readonly tool_active: boolean;
  /** Where the line goes on behind what this sweep looked at. */
  readonly line_end?: string | null;
}

export interface ExpireDeps extends Pick<Ground, "db" | "doorbell" | "faults" | "ids" | "log"> {
  readonly settlements: Settlements;
  readonly retries: Retries;
  readonly observe: CallObserver;
  readonly policy: ExpiryPolicy;
}

export interface Sweep {
  readonly looked: number;
  readonly settled: number;
  readonly requeued: number;
  readonly buried: number;
}

/** Author of the cards a watchdog writes. */
const WATCHDOG = "worker.watchdog";

const BROKEN_RECHECK_SECONDS = 60;

const NOTHING: Sweep = { looked: 0, settled: 0, requeued: 0, buried: 0 };

const add = (a: Sweep, b: Sweep): Sweep => ({
  looked: a.looked + b.looked,
  settled: a.settled + b.settled,
  requeued: a.requeued + b.requeued,
  buried: a.buried + b.buried,
});

interface Decided {
  readonly row: DueRow;
  readonly facts: ReturnType<typeof factsOf>;
  readonly expiry: Expiry;
  readonly settlement: Settlement | undefined;
  readonly retry: PlannedRetry | undefined;
}

const dueOf = (row: DueRow, mayTryAgain: boolean): DueCall => ({
  toolCallId: row.tool_call_id,
  toolName: row.tool_name,
  target: row.target,
  status: row.status,
  retrySafe: row.retry_safe,
  plain: row.plain,
  timeoutSeconds: row.timeout_seconds,
  attempts: row.attempts,
  publishes: row.publishes,
  leaseHolder: row.lease_holder,
  queueOver: row.queue_over,
  runOver: row.run_over,
  leaseOver: row.lease_over,
  lapsesFirst: row.lapses_first,
  lapses: row.lapses,
  ageSeconds: row.age_seconds,
  putOff: row.put_off,
  outOfQueue: row.out_of_queue,
  toolActive: row.tool_active,
  mayTryAgain,
});

/** `watchedSeconds`: how long the caller has looked without a pause; for ever, if it does not say. */
export type Expire = (limit: number, watchedSeconds?: number) => Promise<Sweep>;

export const createExpire = (deps: ExpireDeps): Expire => {
  const { faults, ids, policy } = deps;

  /** Other attempts of calls that are out of time, by the policies of their tools. */
  const planRetries = async (
    tx: Queryer,
    calls: readonly { readonly row: DueRow; readonly facts: Decided["facts"]; readonly expiry: Expiry }[],
  ): Promise<readonly (PlannedRetry | undefined)[]> => {
    const attempts = calls.map(({ row, facts, expiry }) => {
      const isOutOfTime = row.status === "running" && expiry.act === "settle" && expiry.status === "timeout";
      const given = isOutOfTime ? engineFailure(expiry.status, expiry.error, "watchdog") : undefined;
      return { facts, leaseId: row.lease_id, given };
    });
    const plans = await deps.retries.plan(attempts, tx);
    return plans.map((plan, index) =>
      plan && (calls[index]?.row.attempts ?? 0) < plan.row.maxAttempts ? plan : undefined,
    );
  };

  const decide = async (tx: Queryer, rows: readonly DueRow[], watchedSeconds: number): Promise<Decided[]> => {
    const firm = rows.map((row) => ({
      row,
      facts: factsOf(row),
      expiry: planExpiry(dueOf(row, false), policy, watchedSeconds),
    }));
    const retries = await planRetries(tx, firm);
    const calls = firm.map(({ row, facts, expiry }, index) => {
      const retry = retries[index];
      if (retry === undefined) return { row, facts, expiry, retry };
      return { row, facts, expiry: planExpiry(dueOf(row, true), policy, watchedSeconds), retry };
    });
    const ended = calls.filter(
      ({ expiry, row }) => expiry.act === "settle" || expiry.act === "retry" || row.lease_over,
    );
    const candidates = await readCandidates(
      tx,
      ended.map(({ facts }) => facts),
    );
    return calls.map(({ row, facts, expiry, retry }) => {
      const written = candidates.get(callKey(facts));
      const base = { facts, mode: "expire" as const, leaseId: row.lease_id };
      if (written !== undefined)
        return {
          row,
          facts,
          expiry,
          settlement: { ...base, actorId: facts.actorId, messageType: "tool_result", outcome: { written } },
          retry: undefined,
        };
      if (expiry.act !== "settle") return { row, facts, expiry, settlement: undefined, retry };
      const given = engineFailure(expiry.status, expiry.error, "watchdog");
      const messageType = expiry.status === "timeout" ? "timeout" : "tool_result";
      return {
        row,
        facts,
        expiry,
        settlement: { ...base, actorId: WATCHDOG, messageType, outcome: { given }, dead: expiry.bury },
        retry: undefined,
      };
    });
  };

  const buryOf = ({ row, facts, expiry, settlement }: Decided): DeadLetterRow[] =>
    expiry.act !== "settle" || !expiry.bury || settlement === undefined || "written" in settlement.outcome
      ? []
      : [
          {
            projectId: facts.projectId,
            deadLetterId: `dead_${ids.uuid()}`,
            toolCallId: facts.toolCallId,
            subject: facts.subject,
            headers: row.headers,
            payload: commandPayloadText(facts.callCardId, facts.toolName, facts.afterExecution),
            code: expiry.error.code,
            reason: expiry.error.message,
            attempts: row.attempts,
          },
        ];

  const write = async (tx: Queryer, decided: readonly Decided[]): Promise<Sweep> => {
    const settling = decided.filter((item) => item.settlement !== undefined);
    const rest = decided.filter((item) => item.settlement === undefined);
    const requeues = rest.flatMap(({ facts, expiry }) =>
      expiry.act !== "requeue"
        ? []
        : [
            {
              projectId: facts.projectId,
              toolCallId: facts.toolCallId,
              delaySeconds: expiry.delaySeconds,
              recheckSeconds: expiry.recheckSeconds,
              commandPayload: expiry.publish
                ? commandPayloadText(facts.callCardId, facts.toolName, facts.afterExecution)
                : null,
            },
          ],
    );
    const postpones = rest.flatMap(({ facts, expiry }) =>
      expiry.act !== "postpone"
        ? []
        : [{ projectId: facts.projectId, toolCallId: facts.toolCallId, seconds: expiry.seconds }],
    );
    const retries = rest.flatMap(({ expiry, retry }) => (expiry.act === "retry" && retry !== undefined ? [retry] : []));
    const letters = settling.flatMap(buryOf);
    const planned = settling.map(({ settlement }) => deps.settlements.plan(settlement as Settlement));
    await deps.settlements.within(tx, planned);
    if (requeues.length > 0) await tx.query(REQUEUE, bindRequeue(requeues));
    await deps.retries.retry(tx, retries);
    if (postpones.length > 0) await tx.query(POSTPONE, bindPostpone(postpones));
    if (letters.length > 0) await tx.query(BURY, bindDeadLetters(letters));
    const requeued = requeues.length + retries.length;
    return { looked: decided.length, settled: planned.length, requeued, buried: letters.length };
  };

  /** What a person must look at is in the log: a call without a known outcome, one that was given up, a service that was lost. */
  const logLost = (decided: readonly Decided[]): void => {
    for (const { row, facts, expiry, settlement } of decided) {
      const about = { projectId: facts.projectId, call: facts.toolCallId, tool: facts.toolName };
      const holder = row.lease_holder ?? undefined;
      if (settlement !== undefined && expiry.act === "settle" && expiry.bury && !("written" in settlement.outcome)) {
        const { code, message } = expiry.error;
        const what = code === "outcome_unknown" ? "a call ended with an unknown outcome" : "a call was given up";
        deps.log.warn(what, { ...about, code, service: holder, reason: message });
      } else if (settlement === undefined && expiry.act === "requeue" && row.status === "running")
        deps.log.warn("a service stopped answering; its call is offered again", { ...about, service: holder });
    }
  };

  /** Only for calls that are offered again; settled calls are told by their settlement. */
  const announce = (decided: readonly Decided[]): void => {
    const requeued = decided.filter(({ settlement, expiry }) => settlement === undefined && expiry.act === "requeue");
    for (const { facts } of requeued) deps.observe({ ...facts, status: "queued" });
    if (requeued.length > 0) deps.doorbell.ring("events", "here");
    // The bell that also says that some may belong to sessions or be pinned.
    if (requeued.length > 0) deps.doorbell.ring("sessions");
    if (deps.policy.republishSeconds !== null && requeued.length > 0) deps.doorbell.ring("messages");
  };

  const sweepOnce = async (
    watchedSeconds: number,
    read: (tx: Queryer) => Promise<readonly DueRow[]>,
  ): Promise<Sweep> => {
    let decided: Decided[] = [];
    const sweep = await deps.db.transaction(async (tx) => {
      const rows = await read(tx);
      if (rows.length === 0) return NOTHING;
      await faults.at("expire:after-read");
      decided = await decide(tx, rows, watchedSeconds);
      const done = await write(tx, decided);
      await faults.at("expire:before-commit");
      return done;
    });
    if (sweep.looked === 0) return sweep;
    await faults.at("expire:after-commit");
    announce(decided);
    logLost(decided);
    return sweep;
  };

  /** One by one: a call that cannot be ended waits for a person, and does not hold up others (I1). */
  const sweepSingly = async (limit: number, watchedSeconds: number, behind: string): Promise<Sweep> => {
    let total = NOTHING;
    const rows = await deps.db.query<Pick<DueRow, "project_id" | "tool_call_id">>(READ_DUE_KEYS, [limit, behind]);
    for (const row of rows) {
      const key = { projectId: row.project_id, toolCallId: row.tool_call_id };
      try {
        const sweep = await sweepOnce(watchedSeconds, (tx) =>
          tx.query<DueRow>(READ_DUE_CALL, [key.projectId, key.toolCallId]),
        );
        total = add(total, sweep);
      } catch (error) {
        if (isAway(error)) throw error;
        deps.log.error("a call that is due cannot be ended; it is tried again later", key);
        await deps.db.query(POSTPONE, bindPostpone([{ ...key, seconds: BROKEN_RECHECK_SECONDS }]));
        total = add(total, { ...NOTHING, looked: 1 });
      }
    }
    return total;
  };

  let lineEnd = LINE_START;

  const sweepBehind = async (limit: number, watchedSeconds: number, behind: string): Promise<Sweep> => {
    lineEnd = LINE_START;
    try {
      return await sweepOnce(watchedSeconds, async (tx) => {
        const rows = await tx.query<DueRow>(READ_DUE, [limit, behind]);
        lineEnd = rows[0]?.line_end ?? LINE_START;
        return rows;
      });
    } catch (error) {
      if (isAway(error)) throw error;
      return sweepSingly(limit, watchedSeconds, behind);
    }
  };

  return async (limit, watchedSeconds = Number.POSITIVE_INFINITY) => {
    const behind = lineEnd;
    const sweep = await sweepBehind(limit, watchedSeconds, behind);
    // The look reached the end of the line before its limit, so it goes on from the beginning.
    if (sweep.looked >= limit || behind === LINE_START) return sweep;
    return add(sweep, await sweepBehind(limit, watchedSeconds, LINE_START));
  };
};
