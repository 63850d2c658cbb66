// One way to settle, for every reason a call can end: a report, a cancel, a denial, a deadline, the end of its turn or batch. The
// statement, the audit of control keys, the answers to callers and observers, and the bells are here only.
//   I1. The statement decides which of the planned settlements win.
//   I3. Callers are told and bells ring after the commit, also in a transaction of another part: `afterCommit` guarantees it.

import type { Act, Actor } from "../audit/audit.ts";
import { recordActsOf } from "../audit/audit.ts";
import { type Diagnostics, writeDiagnostics } from "../diagnostics/diagnostics.ts";
import type { Limits } from "../gates/limits.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Database, Queryer } from "../sql/database.ts";
import type { CallFacts, CallStatus } from "./call.ts";
import type { FactMemory } from "./call-facts.ts";
import { controlActs } from "./control-acts.ts";
import { planSettlement, type Settlement } from "./plan-settlement.ts";
import { type SettledRow, type SettleRow, settlementOf } from "./settle.sql.ts";
import type { SettleWatch } from "./settle-watch.ts";
import type { Sha256 } from "./turn-chain.ts";

export interface PlannedSettlement {
  readonly facts: CallFacts;
  readonly row: SettleRow;
  /** What the tool's program said about its failure, for operators. */
  readonly diagnostics?: Diagnostics | undefined;
  /** The reporter's own span, if it made one. */
  readonly traceparent?: string | undefined;
  /** When it was planned, in milliseconds. */
  readonly plannedAt?: number | undefined;
}

type ActBy = Act & { readonly by: Actor };

export interface Settlements {
  plan(settlement: Settlement): PlannedSettlement;
  /** In the caller's transaction. Returns the settlements that won; the others change nothing, and the caller finds out why. */
  within<Planned extends PlannedSettlement>(tx: Queryer, planned: readonly Planned[]): Promise<ReadonlySet<Planned>>;
  /** In a commit of its own; `actsOf` gives the audit entries of those that won. */
  alone<Planned extends PlannedSettlement>(
    planned: readonly Planned[],
    actsOf?: (won: readonly Planned[]) => readonly ActBy[],
  ): Promise<ReadonlySet<Planned>>;
}

export interface SettlementsDeps extends Limits {
  readonly db: Database;
  readonly facts: FactMemory;
  readonly watch: SettleWatch;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly observe: CallObserver;
  readonly ids: Ids;
  readonly log: Log;
  readonly sha256: Sha256;
  readonly protocolVersion: string;
}

/** Tools in one log line. */
const MAX_NAMED = 10;

export const createSettlements = (deps: SettlementsDeps): Settlements => {
  const { db, faults, doorbell } = deps;

  const tell = async (
    won: readonly PlannedSettlement[],
    limited: readonly PlannedSettlement[],
    unrung: readonly PlannedSettlement[],
  ): Promise<void> => {
    await faults.at("settle:before-doorbell");
    deps.admission.freed(new Set(won.map(({ facts }) => facts.projectId)));
    for (const { facts, row, traceparent, plannedAt } of won) {
      const news = { traceparent, errorCode: row.errorCode, settlingAt: plannedAt };
      deps.observe({ ...facts, status: row.status as CallStatus }, news);
      deps.facts.forget(facts);
      deps.watch.settled({ ...row, facts, status: row.status as CallStatus });
    }
    doorbell.ring("settled");
    doorbell.ring("events", "here");
    if (won.some(({ facts }) => !facts.headless)) doorbell.ring("messages");
    // The next call of the session may run; the next call may have the slot.
    if (won.some(({ facts }) => facts.session !== null) || limited.length > 0) doorbell.ring("sessions");
    const agents = new Map(unrung.map(({ facts }) => [`${facts.projectId} ${facts.agentId}`, facts]));
    for (const { projectId, agentId } of agents.values())
      deps.log.warn("an agent has no worker_target: no worker was rung, and its inbox waits", { projectId, agentId });
    const ended = limited.map(({ facts, row }) => ({ ...facts, status: row.status, errorCode: row.errorCode }));
    // A lost count makes a breaker slower; the settlement stands.
    if (ended.length > 0)
      await deps.breakers.record(ended).catch((cause: unknown) =>
        deps.log.warn("the results of calls could not be counted for their breakers; the calls are settled", {
          tools: [...new Set(ended.map(({ projectId, toolName }) => `${projectId}/${toolName}`))].slice(0, MAX_NAMED),
          cause: String(cause),
        }),
      );
    await faults.at("settle:after-doorbell");
  };

  const settle = async <Planned extends PlannedSettlement>(
    on: Queryer,
    planned: readonly Planned[],
    actsOf: (won: readonly Planned[]) => readonly ActBy[] = () => [],
  ): Promise<ReadonlySet<Planned>> => {
    if (planned.length === 0) return new Set();
    const statement = settlementOf(
      planned.map(({ row }) => row),
      deps.protocolVersion,
    );
    const rows = await on.query<SettledRow>(...statement);
    const byOrd = new Map(rows.map((row) => [row.ord, row]));
    const answered = (is: (row: SettledRow) => boolean): readonly Planned[] =>
      planned.filter((_, index) => {
        const row = byOrd.get(index + 1);
        return row !== undefined && is(row);
      });
    const won = answered(() => true);
    if (won.length === 0) return new Set();
    const acts = [...won.flatMap(({ row }) => controlActs(row)), ...actsOf(won)];
    if (acts.length > 0) await recordActsOf(on, acts);
    await writeDiagnostics(
      on,
      won.flatMap(({ facts, diagnostics }) => (diagnostics === undefined ? [] : [{ key: facts, diagnostics }])),
    );
    const limited = answered(({ gated }) => gated);
    const unrung = answered((row) => row.unrung);
    await on.afterCommit(() => tell(won, limited, unrung));
    return new Set(won);
  };

  return {
    plan(settlement) {
      const plannedAt = deps.clock.now();
      const now = new Date(plannedAt).toISOString();
      const { facts, traceparent } = settlement;
      return { facts, row: planSettlement(settlement, { ...deps, now }), traceparent, plannedAt };
    },
    within: (tx, planned) => settle(tx, planned),
    alone(planned, actsOf) {
      const writesMore = planned.some(({ row, diagnostics }) => row.control !== undefined || diagnostics !== undefined);
      return writesMore || actsOf !== undefined
        ? db.transaction((tx) => settle(tx, planned, actsOf))
        : settle(db, planned);
    },
  };
};
