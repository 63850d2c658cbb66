// C30 to C35: repetition, lateness and a server in trouble.

import { type CallRecord, callsOf, contentText, type Evidence } from "../evidence.ts";
import { AGAIN, CANCELED, LATE, LOST, TROUBLE, TWICE } from "../scenarios/repeats.ts";
import { fail, notApplicable, pass, type Verdict } from "../verdict.ts";
import { describeOffer, type Judges } from "./judge.ts";

/** One heartbeat may be under way when the first one is refused. */
const BEATS_AFTER_LOSS = 1;

const judgeOneResult = (evidence: Evidence, scenario: string): Verdict => {
  const [record] = callsOf(evidence, scenario);
  if (record === undefined || record.trace.offers.length === 0) return fail("the call got no result at all");
  const { offers, deliveries } = record.trace;
  const distinct = new Set(offers.map(contentText)).size;
  if (distinct > 1) return fail(`${deliveries} deliveries brought ${distinct} different results`);
  return pass(offers.length === 1 ? "there was one result" : "the same result was sent again");
};

const judgeLate = (evidence: Evidence): Verdict => {
  for (const { call, trace } of callsOf(evidence, LATE)) {
    if (trace.offers.length === 0) return fail(`${call.label}: no result came`);
    if (trace.offers.length > 1) return fail(`${call.label} was sent ${trace.offers.length} times`);
  }
  return pass("each was sent once, and the next call was answered");
};

/** A service that never renews a lease cannot learn anything by a heartbeat. */
const unlessBeats = (record: CallRecord | undefined, judge: (record: CallRecord) => Verdict): Verdict => {
  if (record === undefined) return notApplicable("the call was not made");
  return record.trace.heartbeats.length === 0
    ? notApplicable("no heartbeat came while the card was kept back for two leases")
    : judge(record);
};

const judgeLost = ({ trace }: CallRecord): Verdict => {
  const more = trace.heartbeats.length - 1;
  if (more > BEATS_AFTER_LOSS) return fail(`${more} more heartbeats came after the lease was refused`);
  if (trace.offers.length > 1) return fail(`a result was sent ${trace.offers.length} times under a lost lease`);
  return pass("the service let the call go");
};

const judgeCanceled = ({ trace }: CallRecord): Verdict => {
  const toldAt = trace.heartbeats[0]?.order ?? 0;
  const offer = trace.offers.find(({ order, status }) => order > toldAt && status !== "canceled");
  return offer === undefined
    ? pass("nothing was reported after the heartbeat said cancel")
    : fail(`the call was answered with ${describeOffer(offer)} after a heartbeat had said cancel`);
};

const judgeTrouble = (evidence: Evidence): Verdict => {
  const offers = callsOf(evidence, TROUBLE)[0]?.trace.offers ?? [];
  if (offers.some(({ answered }) => answered < 300)) return pass("the result came after 503 and 500");
  const last = offers.at(-1);
  return fail(
    last === undefined ? "the call got no result" : `the result was given up after an answer of ${last.answered}`,
  );
};

export const repeatJudges: Judges = {
  "UTP-C30": (evidence) => judgeOneResult(evidence, AGAIN),
  "UTP-C31": (evidence) => judgeOneResult(evidence, TWICE),
  "UTP-C32": judgeLate,
  "UTP-C33": (evidence) => unlessBeats(callsOf(evidence, LOST)[0], judgeLost),
  "UTP-C34": (evidence) => unlessBeats(callsOf(evidence, CANCELED)[0], judgeCanceled),
  "UTP-C35": judgeTrouble,
};
