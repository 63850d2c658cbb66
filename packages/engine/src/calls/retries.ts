// Tries failed attempts again, by the retry policies of their tools (plan-retry.ts). A retry waits as a row, not in the memory of a
// worker: whatever dies meanwhile, the call is tried again.

import { resolveOptions } from "@toolplane/protocol";
import type { Breakers } from "../gates/breakers.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Definitions } from "../registry/definition-cache.ts";
import type { Database } from "../sql/database.ts";
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

export interface Retries {
  /** When each attempt is tried again, in the order given; undefined: its result stands. */
  retry(attempts: readonly FailedAttempt[]): Promise<readonly (Date | undefined)[]>;
}

export interface RetriesDeps {
  readonly db: Database;
  readonly definitions: Pick<Definitions, "resolveVersion">;
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
  const rowOf = async ({ facts, leaseId, given }: FailedAttempt): Promise<RetryRow | undefined> => {
    if (leaseId === null || given === undefined) return undefined;
    const { projectId, toolCallId, toolName, toolVersion } = facts;
    const definition = await deps.definitions.resolveVersion(projectId, toolName, toolVersion);
    const policy = definition === undefined ? undefined : resolveOptions(definition.definition.options).retryPolicy;
    const plan = planRetry(policy, facts, given);
    if (plan === undefined) return undefined;
    const payload = commandPayloadText(facts.callCardId, toolName, facts.afterExecution);
    return { projectId, toolCallId, leaseId, ...plan, commandPayload: deps.republishSeconds === null ? null : payload };
  };

  return {
    async retry(attempts) {
      const at: (Date | undefined)[] = attempts.map(() => undefined);
      if (!attempts.some(mayFail)) return at;
      const planned: { readonly index: number; readonly row: RetryRow }[] = [];
      for (const [index, attempt] of attempts.entries()) {
        const row = mayFail(attempt) ? await rowOf(attempt) : undefined;
        if (row !== undefined) planned.push({ index, row });
      }
      if (planned.length === 0) return at;
      const rows = planned.map(({ row }) => row);
      const retried = await deps.db.query<RetriedRow>(RETRY, bindRetries(rows, deps.republishSeconds));
      for (const row of retried) {
        const index = planned[row.ord - 1]?.index ?? -1;
        at[index] = row.available_at;
        const facts = attempts[index]?.facts;
        if (facts !== undefined) deps.observe({ ...facts, status: "queued" });
      }
      if (retried.length === 0) return at;
      deps.doorbell.ring("events", "here");
      // The session of such a call is free now, or its slot.
      deps.doorbell.ring("sessions");
      if (deps.republishSeconds !== null) deps.doorbell.ring("messages");
      await deps.breakers.record(
        retried.flatMap(({ ord, gated }) => {
          const one = planned[ord - 1];
          const facts = one && attempts[one.index]?.facts;
          return facts === undefined || !gated
            ? []
            : [{ ...facts, status: "failed", errorCode: one?.row.code ?? null }];
        }),
      );
      return at;
    },
  };
};
