// C06 to C17: what the service makes of a command and its card.

import { callsOf, contentText, type Evidence, hasRun } from "../evidence.ts";
import { NO_CARD, WRONG_CALL, WRONG_CONTENT, WRONG_TYPE } from "../scenarios/bad-cards.ts";
import { GARBAGE, IDENTITY, INLINE, NAMELESS, POINTERLESS } from "../scenarios/bad-commands.ts";
import { EXTENSIONS, TWO_CALLS } from "../scenarios/good-calls.ts";
import { fail, judgeEach, notApplicable, pass, type Verdict } from "../verdict.ts";
import { describeOffer, isHealthy, type Judges, judgeRefused, offersOf } from "./judge.ts";

const MORE_ARGUMENTS = "give arguments it succeeds with: --arguments '{...}'";

const judgeArguments = (evidence: Evidence): Verdict => {
  const [first, second] = callsOf(evidence, TWO_CALLS);
  const offers = [first?.trace.offers[0], second?.trace.offers[0]];
  if (first === undefined || offers.some((offer) => offer === undefined)) return fail("an ordinary call got no result");
  for (const record of [first, second]) {
    const offer = record?.trace.offers[0];
    if (record === undefined || offer === undefined) continue;
    if (!record.trace.cardReads.some((order) => order < offer.order))
      return fail(`${record.call.label} was answered before its card was read`);
    if (!hasRun(offer))
      return fail(`${record.call.label} was answered with ${describeOffer(offer)}; ${MORE_ARGUMENTS}`);
  }
  if (!evidence.argumentsDiffer)
    return pass("the card was read before the result; the tool takes no arguments to vary");
  const [one, two] = offers.map((offer) => (offer === undefined ? "" : contentText(offer)));
  return one === two
    ? fail("two cards with different arguments gave the same result; try others with --arguments '[{...}, {...}]'")
    : pass("the card was read first, and other arguments gave another result");
};

const judgeAddress = (evidence: Evidence): Verdict => {
  const [stray] = evidence.strays;
  if (stray !== undefined)
    return fail(`a result came for ${stray.addressedTo ?? "no call at all"}, which was never asked`);
  return judgeEach(
    offersOf(evidence, ({ call }) => call.rules.identity),
    ({ call, offer }) => {
      if (offer.addressedTo !== call.ids.callId)
        return `the result of ${call.label} was sent to ${offer.addressedTo ?? "no call"}`;
      const inCard = offer.card?.tool_call_id;
      return offer.card === undefined || inCard === call.ids.callId
        ? undefined
        : `the result card of ${call.label} names the call ${JSON.stringify(inCard ?? null)}`;
    },
    { good: "every result came home", none: "there were no results" },
  );
};

/** The card can still name the caller; a result without a caller cannot arrive. */
const judgeNameless = (evidence: Evidence): Verdict => {
  const offers = offersOf(evidence, ({ call }) => call.scenario === NAMELESS);
  const lost = offers.find(({ call, offer }) => offer.addressedTo !== call.ids.callId);
  return lost === undefined
    ? judgeNotRun(evidence, NAMELESS, "it was not run, and the next call was answered")
    : fail(`${lost.call.label} got a result for ${JSON.stringify(lost.offer.addressedTo ?? null)}`);
};

const judgeNotRun = (evidence: Evidence, scenario: string, good: string): Verdict => {
  const ran = offersOf(evidence, ({ call }) => call.scenario === scenario).find(({ offer }) => hasRun(offer));
  return ran === undefined ? pass(good) : fail(`${ran.call.label} was answered with ${describeOffer(ran.offer)}`);
};

const judgeExtensions = (evidence: Evidence): Verdict => {
  const [record] = callsOf(evidence, EXTENSIONS);
  const offer = record?.trace.offers[0];
  if (record === undefined || offer === undefined) return fail("a payload with unknown fields got no result");
  if (hasRun(offer)) return pass("unknown fields made no difference");
  return isHealthy(evidence)
    ? fail(`${record.call.label} was answered with ${describeOffer(offer)}`)
    : notApplicable("the tool does not succeed without them either");
};

export const commandJudges: Judges = {
  "UTP-C06": judgeArguments,
  "UTP-C07": (evidence) => judgeRefused(callsOf(evidence, INLINE), "each was answered with a failed result"),
  "UTP-C08": (evidence) => judgeRefused(callsOf(evidence, IDENTITY), "each was answered with a failed result"),
  "UTP-C09": judgeAddress,
  "UTP-C10": judgeNameless,
  "UTP-C11": (evidence) => judgeRefused(callsOf(evidence, POINTERLESS), "it was answered with a failed result"),
  "UTP-C12": judgeExtensions,
  "UTP-C13": (evidence) => judgeNotRun(evidence, GARBAGE, "none was run, and the next call was answered"),
  "UTP-C14": (evidence) => judgeRefused(callsOf(evidence, NO_CARD), "it was answered with a failed result"),
  "UTP-C15": (evidence) => judgeRefused(callsOf(evidence, WRONG_TYPE), "it was answered with a failed result"),
  "UTP-C16": (evidence) => judgeRefused(callsOf(evidence, WRONG_CALL), "it was answered with a failed result"),
  "UTP-C17": (evidence) => judgeRefused(callsOf(evidence, WRONG_CONTENT), "each was answered with a failed result"),
};
