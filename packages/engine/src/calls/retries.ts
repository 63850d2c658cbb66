// Tries failed attempts again, by the retry policies of their tools (plan-retry.ts). A retry waits as a row, not in the memory of a
// worker: whatever dies meanwhile, the call is tried again.
// The policy in force counts, as with all limits of a tool, and not the one under which the call was made. Only when the tool was deleted is the
// call's own version asked.

import { type RetryPolicy, resolveOptions } from "@toolplane/protocol";
import type { Breakers } from "../gates/breakers.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Definitions } from "../registry/definition-cache.ts";
import type { Queryer } from "../sql/database.ts";
import type { CallFacts } from "./call.ts";
import { commandPayloadText } from "./plan-call.ts";
import { planRetry } from "./plan-retry.ts";
import type { GivenResult } from "./plan-settlement.ts";
import { bindRetries, RETRY, type RetriedRow, type RetryRow } from "./retry.sql.ts";

export interface FailedAttempt {
  readonly facts: CallFacts;
  readonly leaseId: string | null;
  readonly given: GivenResult | undefined;
}

export interface PlannedRetry {
  readonly facts: CallFacts;
  readonly row: RetryRow;
}

export interface Retries {
  /** What the policies say of each attempt; undefined: its result stands. How many attempts there were is not looked at. `on`: the transaction. */
  plan(attempts: readonly FailedAttempt[], on?: Queryer): Promise<readonly (PlannedRetry | undefined)[]>;
  /** Puts calls back into the queue, and gives when each is tried again. One that is missing has no attempt left, or its lease is over. */
  retry(on: Queryer, planned: readonly PlannedRetry[]): Promise<ReadonlyMap<PlannedRetry, Date>>;
}

export interface RetriesDeps {
  readonly definitions: Pick<Definitions, "resolve" | "resolveVersions">;
  readonly doorbell: Doorbell;
  readonly observe: CallObserver;
  readonly republishSeconds: number | null;
  readonly breakers: Pick<Breakers, "record">;
}

const mayFail = ({ facts, leaseId, given }: FailedAttempt): boolean =>
  facts.retrySafe &&
  leaseId !== null &&
  given !== undefined &&
  (given.status === "failed" || given.status === "timeout");

export const createRetries = (deps: RetriesDeps): Retries => {
  const { definitions, doorbell, republishSeconds } = deps;

  /** The policies in force. */
  const policiesOf = async (
    calls: readonly CallFacts[],
    on?: Queryer,
  ): Promise<readonly (RetryPolicy | undefined)[]> => {
    const current = await definitions.resolve(calls, on);
    const gone = calls.filter((_, index) => current[index] === undefined);
    const versions = gone.map(({ toolVersion: version, ...call }) => ({ ...call, version }));
    const made = gone.length === 0 ? [] : await definitions.resolveVersions(versions, on);
    return calls.map((call, index) => {
      const inForce = current[index] ?? made[gone.indexOf(call)];
      return inForce === undefined ? undefined : resolveOptions(inForce.definition.options).retryPolicy;
    });
  };

  const planOne = (attempt: FailedAttempt, policy: RetryPolicy | undefined): PlannedRetry | undefined => {
    const { facts, leaseId, given } = attempt;
    const plan = given && planRetry(policy, facts, given);
    if (plan === undefined || leaseId === null) return undefined;
    const { projectId, toolCallId, callCardId, toolName, afterExecution } = facts;
    const commandPayload = republishSeconds === null ? null : commandPayloadText(callCardId, toolName, afterExecution);
    return { facts, row: { projectId, toolCallId, leaseId, ...plan, commandPayload } };
  };

  const tell = async (retried: readonly PlannedRetry[], limited: readonly PlannedRetry[]): Promise<void> => {
    for (const { facts } of retried) deps.observe({ ...facts, status: "queued" });
    doorbell.ring("events", "here");
    // The session of such a call is free now, or its slot.
    doorbell.ring("sessions");
    if (republishSeconds !== null) doorbell.ring("messages");
    await deps.breakers.record(limited.map(({ facts, row }) => ({ ...facts, status: "failed", errorCode: row.code })));
  };

  return {
    async plan(attempts, on) {
      const failed = attempts.filter(mayFail);
      if (failed.length === 0) return attempts.map(() => undefined);
      const policies = await policiesOf(
        failed.map(({ facts }) => facts),
        on,
      );
      const plans = new Map(failed.map((attempt, index) => [attempt, planOne(attempt, policies[index])]));
      return attempts.map((attempt) => plans.get(attempt));
    },
    async retry(on, planned) {
      if (planned.length === 0) return new Map();
      const rows = planned.map(({ row }) => row);
      const done = (await on.query<RetriedRow>(RETRY, bindRetries(rows, republishSeconds))).flatMap((row) => {
        const one = planned[row.ord - 1];
        return one === undefined ? [] : [{ one, at: row.available_at, gated: row.gated }];
      });
      const limited = done.flatMap(({ one, gated }) => (gated ? [one] : []));
      if (done.length > 0)
        await on.afterCommit(() =>
          tell(
            done.map(({ one }) => one),
            limited,
          ),
        );
      return new Map(done.map(({ one, at }) => [one, at]));
    },
  };
};
