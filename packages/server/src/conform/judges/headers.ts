// C45 to C49: what a service makes of the fields and headers of a command, and what it says about the call in its own.

import { HEADERS } from "@toolplane/protocol";
import { type CallRecord, callsOf, type Evidence, hasRun } from "../evidence.ts";
import { standingCardId } from "../plane/result-desk.ts";
import { INCOMPLETE, UNREADABLE } from "../scenarios/bad-commands.ts";
import { CHANNEL, STANDING, TWO_CALLS } from "../scenarios/good-calls.ts";
import { fail, judgeEach, notApplicable, pass, type Verdict } from "../verdict.ts";
import { describeOffer, type Judges, judgeRefused, offersOf } from "./judge.ts";

/** The call and its turn have clauses of their own. */
const IDENTITY = [
  HEADERS.projectId,
  HEADERS.agentId,
  HEADERS.turnEpoch,
  HEADERS.stepId,
  HEADERS.recursionDepth,
] as const;

interface Said {
  readonly what: string;
  readonly record: CallRecord;
  readonly headers: Readonly<Record<string, string>>;
}

/** Everything that was sent about a call whose command could be read. */
const saidOf = (evidence: Evidence): readonly Said[] =>
  [
    ...offersOf(evidence).map(({ offer, ...record }) => ({ what: "the result", record, headers: offer.headers })),
    ...evidence.questions.flatMap(({ operation, record, headers }) =>
      record === undefined ? [] : [{ what: operation, record, headers }],
    ),
  ].filter(({ record }) => record.call.rules.identity);

const headerFault = ({ what, record: { call }, headers }: Said, names: readonly string[]): string | undefined => {
  const wrong = names.find((name) => headers[name] !== undefined && headers[name] !== call.command.headers[name]);
  return wrong === undefined ? undefined : `${what} of ${call.label} has another ${wrong} than the command`;
};

const judgeIdentity = (evidence: Evidence): Verdict =>
  judgeEach(saidOf(evidence), (said) => headerFault(said, IDENTITY), {
    good: "every header that was sent was the command's",
    none: "nothing was sent",
  });

const judgeChannel = (evidence: Evidence): Verdict => {
  const [record] = callsOf(evidence, CHANNEL);
  if (record === undefined) return notApplicable("no such call was made");
  const [offer] = record.trace.offers;
  if (offer === undefined) return fail(`${record.call.label} got no result`);
  const ordinary = callsOf(evidence, TWO_CALLS).flatMap(({ trace }) => trace.offers);
  if (ordinary.length > 0 && !ordinary.some(hasRun)) return notApplicable("the tool fails with these arguments anyway");
  if (!hasRun(offer)) return fail(`${record.call.label} was answered with ${describeOffer(offer)}`);
  return judgeEach(saidOf(evidence), (said) => headerFault(said, [HEADERS.channelId]), {
    good: "it was run, and answered in its channel",
    none: "nothing was sent",
  });
};

const judgeUnreadable = (evidence: Evidence): Verdict =>
  judgeEach(
    callsOf(evidence, UNREADABLE),
    ({ call, trace }) => {
      const ran = trace.offers.find(hasRun);
      return ran === undefined ? undefined : `${call.label} was answered with ${describeOffer(ran)}`;
    },
    { good: "none was run, and the next call was answered", none: "no such command was sent" },
  );

const judgeStanding = (evidence: Evidence): Verdict => {
  const [record] = callsOf(evidence, STANDING);
  if (record === undefined) return notApplicable("results come in one step, so the server writes the card");
  const standing = standingCardId(record);
  const [offer] = record.trace.offers;
  if (offer === undefined) return fail(`${record.call.label} was not reported: report the card that is there`);
  // A service that reports before it writes cannot know the other card yet, and breaks another clause.
  if (!offer.cardWasThere) return notApplicable("the report came before its card");
  return offer.body.tool_result_card_id === standing
    ? pass("the card that was there was reported")
    : fail(`${record.call.label} was reported with another card than the one that was there`);
};

export const headerJudges: Judges = {
  "UTP-C45": (evidence) => judgeRefused(callsOf(evidence, INCOMPLETE), "each was answered with a failed result"),
  "UTP-C46": judgeUnreadable,
  "UTP-C47": judgeIdentity,
  "UTP-C48": judgeStanding,
  "UTP-C49": judgeChannel,
};
