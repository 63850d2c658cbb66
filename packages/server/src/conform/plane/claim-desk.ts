// Keeps the open claims and the calls to give out. A batch is given out in one answer, as far as the claim's `max` allows, so
// that a scenario decides which calls a service has at the same time.

import type { PlannedCall } from "../planned-call.ts";
import type { Sleep } from "../watch.ts";

/** What a claim is answered with instead of work. */
export type ClaimTrouble = "server_error" | "cut_json";

export type ClaimAnswer =
  | { readonly kind: "calls"; readonly calls: readonly PlannedCall[] }
  | { readonly kind: "trouble"; readonly trouble: ClaimTrouble };

export interface ClaimRequest {
  readonly max: number;
  readonly waitMs: number;
  /** Aborted when the service hangs up. */
  readonly signal: AbortSignal;
}

export interface ClaimDesk {
  claim(request: ClaimRequest): Promise<ClaimAnswer>;
  give(batch: readonly PlannedCall[]): void;
  /** Makes the next claims fail, each in its own way. */
  spoil(troubles: readonly ClaimTrouble[]): void;
  spoiled(): number;
  /** Takes back the calls that were not claimed. */
  clear(): void;
  /** Open claims are answered with nothing, and later ones too. */
  close(): void;
}

interface Waiter {
  readonly request: ClaimRequest;
  readonly answer: (answer: ClaimAnswer) => void;
}

const NOTHING: ClaimAnswer = { kind: "calls", calls: [] };

export const createClaimDesk = (sleep: Sleep, onGiven: (calls: readonly PlannedCall[]) => void): ClaimDesk => {
  const waiters = new Set<Waiter>();
  let batches: PlannedCall[][] = [];
  let troubles: ClaimTrouble[] = [];
  let closed = false;

  const next = (max: number): ClaimAnswer | undefined => {
    const trouble = troubles.shift();
    if (trouble !== undefined) return { kind: "trouble", trouble };
    const calls = batches[0]?.splice(0, max) ?? [];
    batches = batches.filter((batch) => batch.length > 0);
    return calls.length === 0 ? undefined : { kind: "calls", calls };
  };

  const match = (): void => {
    for (const waiter of [...waiters]) {
      const answer = next(waiter.request.max);
      if (answer === undefined) return;
      waiters.delete(waiter);
      waiter.answer(answer);
      if (answer.kind === "calls") onGiven(answer.calls);
    }
  };

  return {
    claim(request) {
      if (closed) return Promise.resolve(NOTHING);
      const over = new AbortController();
      const ended = AbortSignal.any([request.signal, over.signal]);
      return new Promise<ClaimAnswer>((resolve) => {
        const waiter: Waiter = {
          request,
          answer: (answer) => {
            over.abort();
            resolve(answer);
          },
        };
        waiters.add(waiter);
        void sleep(request.waitMs, ended).then(() => {
          if (waiters.delete(waiter)) waiter.answer(NOTHING);
        });
        match();
      });
    },
    give(batch) {
      batches.push([...batch]);
      match();
    },
    spoil(more) {
      troubles.push(...more);
      match();
    },
    spoiled: () => troubles.length,
    clear() {
      batches = [];
      troubles = [];
    },
    close() {
      closed = true;
      for (const waiter of [...waiters]) {
        waiters.delete(waiter);
        waiter.answer(NOTHING);
      }
    },
  };
};
