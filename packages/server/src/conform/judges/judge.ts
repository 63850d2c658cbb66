// A judge: from what was seen to one clause's verdict. Pure.

import type { ClauseId } from "../clauses.ts";
import { type CallRecord, type Evidence, hasRun, isTerminated, type Offer } from "../evidence.ts";
import { fail, pass, type Verdict } from "../verdict.ts";

export type Judge = (evidence: Evidence) => Verdict;
export type Judges = { readonly [Id in ClauseId]?: Judge };

export interface CallOffer extends CallRecord {
  readonly offer: Offer;
}

/** Every result of every call that passes the test, in the order they came. */
export const offersOf = (
  { calls }: Pick<Evidence, "calls">,
  matches: (record: CallRecord) => boolean = () => true,
): readonly CallOffer[] =>
  calls
    .filter(matches)
    .flatMap((record) => record.trace.offers.map((offer) => ({ ...record, offer })))
    .sort((a, b) => a.offer.order - b.offer.order);

/** The tool's result for arguments that it accepts. */
export const isHealthy = ({ calls }: Pick<Evidence, "calls">): boolean =>
  calls.length > 0 && calls[0]?.trace.offers[0]?.status !== "failed";

const codeOf = (error: unknown): string => {
  const code = typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" ? ` (${code})` : "";
};

export const describeOffer = ({ status, error }: Offer): string =>
  typeof status === "string" ? `"${status}"${codeOf(error)}` : "no status";

/** Each call got a failed result and nothing else; or, over NATS, its command was terminated before it was leased. */
export const judgeRefused = (records: readonly CallRecord[], good: string): Verdict => {
  for (const { call, trace } of records) {
    const ran = trace.offers.find(hasRun);
    if (ran !== undefined) return fail(`${call.label} was answered with ${describeOffer(ran)} instead of "failed"`);
    if (trace.offers.length > 0 || (isTerminated({ trace }) && trace.leases.length === 0)) continue;
    const instead = trace.releases > 0 ? "was given back instead of refused" : "got no result";
    return fail(`${call.label} ${instead}`);
  }
  return pass(good);
};
