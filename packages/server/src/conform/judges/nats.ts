// C36 to C43: what a service owes the plane when commands are messages and the gateway is asked over NATS.

import { type CallRecord, callsOf, type Evidence, hasRun, isFetching, isPlain, type Question } from "../evidence.ts";
import { GARBAGE, NAMELESS } from "../scenarios/bad-commands.ts";
import { CONTRADICTION, FOREIGN, HELD, isSettled, LATER } from "../scenarios/nats.ts";
import { CANCELED, LOST } from "../scenarios/repeats.ts";
import { fail, judgeEach, notApplicable, pass, type Verdict } from "../verdict.ts";
import { describeOffer, type Judge, type Judges } from "./judge.ts";

const LISTENS = "the service listens and fetches nothing, so there is nothing to acknowledge";
const PLAIN = "a plain service takes no leases";
/** Questions that are about no call, or name their calls item by item. */
const WITHOUT_CALL: ReadonlySet<string> = new Set(["attach", "exchange", "get_tool", "register"]);
const NEED_TURN: ReadonlySet<string> = new Set(["lease", "report"]);
/** A result without its call's name is another clause. */
const RESULTS: ReadonlySet<string> = new Set(["settle", "report"]);

const unlessPlain =
  (judge: Judge): Judge =>
  (evidence) =>
    isPlain(evidence) ? notApplicable(PLAIN) : judge(evidence);

const judgeAcknowledged = (evidence: Evidence): Verdict => {
  if (!isFetching(evidence)) return notApplicable(LISTENS);
  return judgeEach(
    evidence.calls.filter(({ call, trace }) => call.scenario !== FOREIGN && trace.commands.length > 0),
    ({ call, trace }) =>
      trace.commands.every(isSettled)
        ? undefined
        : `the command of ${call.label} was never acknowledged, so it is delivered again and again`,
    { good: "all of them were", none: "no command was fetched" },
  );
};

const firstAck = ({ trace }: CallRecord): number =>
  Math.min(
    ...trace.commands.flatMap(({ words }) => words.filter(({ word }) => word === "ack").map(({ order }) => order)),
  );

/** A service that acknowledges first and then dies delays its call until the plane publishes it again. */
const judgeAckAfterLease = (evidence: Evidence): Verdict => {
  if (!isFetching(evidence)) return notApplicable(LISTENS);
  const canBeLeased = ({ call }: CallRecord): boolean =>
    call.rules.lease && call.scenario !== GARBAGE && call.scenario !== NAMELESS;
  return judgeEach(
    evidence.calls.filter(canBeLeased),
    (record) =>
      firstAck(record) < (record.trace.leases[0]?.order ?? Number.POSITIVE_INFINITY)
        ? `the command of ${record.call.label} was acknowledged before its lease was asked for`
        : undefined,
    { good: "leases came first", none: "no command was fetched" },
  );
};

const judgeHeld = (evidence: Evidence): Verdict => {
  const [record] = callsOf(evidence, HELD);
  if (record === undefined || record.trace.leases.length === 0) return notApplicable("its lease was not asked for");
  const [offer] = record.trace.offers;
  return offer === undefined
    ? pass("nothing was sent after the lease was refused")
    : fail(`${record.call.label} was answered with ${describeOffer(offer)}, without a lease`);
};

const judgeLater = (evidence: Evidence): Verdict => {
  const [record] = callsOf(evidence, LATER);
  if (record === undefined || record.trace.leases.length === 0) return notApplicable("its lease was not asked for");
  const { leases, offers } = record.trace;
  if (leases.length < 2) return fail("the lease was refused because the call is queued, and never asked for again");
  return offers.length > 0 ? pass("it was leased the second time") : fail("it was leased and got no result");
};

const isForeign = ({ record }: Question): boolean => record?.call.scenario === FOREIGN;

const judgeSubjects = ({ questions, projectId, target }: Evidence): Verdict =>
  judgeEach(
    questions.filter((question) => !isForeign(question)),
    (question) => {
      if (question.projectId !== projectId) return `${question.subject} is of another project than ${projectId}`;
      return question.actor === target ? undefined : `${question.subject} is another actor's than tool.${target}`;
    },
    { good: `every question was asked as tool.${target} in ${projectId}`, none: "nothing was asked" },
  );

const judgeForeign = (evidence: Evidence): Verdict => {
  const asked = evidence.questions.find(isForeign);
  if (asked !== undefined) return fail(`${asked.subject} was asked about a call of another project`);
  const [record] = callsOf(evidence, FOREIGN);
  if (record === undefined) return notApplicable("the service listens on subjects of its own project only");
  const words = record.trace.commands.flatMap((command) => command.words.map(({ word }) => word));
  const taken = words.find((word) => word === "ack" || word === "term");
  return taken === undefined
    ? pass(words.includes("nak") ? "it was given back" : "it was left alone")
    : fail("a command of another project was acknowledged, so its own services do not get it");
};

const headerFault = ({ operation, callId, turnId, record }: Question): string | undefined => {
  if (WITHOUT_CALL.has(operation)) return undefined;
  if (callId === undefined && !RESULTS.has(operation)) return `${operation} was asked without CG-Tool-Call-Id`;
  if (!NEED_TURN.has(operation) || record === undefined) return undefined;
  return turnId === record.call.ids.turnId
    ? undefined
    : `${operation} of ${record.call.label} has ${turnId === undefined ? "no CG-Turn-Id" : "another turn in CG-Turn-Id"}`;
};

const judgeHeaders = ({ questions }: Evidence): Verdict =>
  judgeEach(
    // Without a call id nothing can be reported.
    questions.filter(({ record }) => record?.call.rules.identity !== false),
    headerFault,
    { good: "call and turn were named", none: "nothing was asked" },
  );

/** Only a service that waited for the card had time to renew its lease. */
const judgeRenewed = (evidence: Evidence): Verdict => {
  const waited = [...callsOf(evidence, LOST), ...callsOf(evidence, CANCELED)].filter(({ trace }) =>
    trace.leases.some(({ answer }) => answer === "granted"),
  );
  if (waited.some(({ trace }) => trace.heartbeats.length > 0))
    return pass("heartbeats came while the card was kept back");
  const silent = waited.find(({ trace }) => trace.cardReads.length > 0);
  return silent === undefined
    ? notApplicable("no call took long enough")
    : fail(`no heartbeat came for ${silent.call.label} within two leases`);
};

const judgeContradiction = (evidence: Evidence): Verdict =>
  judgeEach(
    callsOf(evidence, CONTRADICTION),
    ({ call, trace }) => {
      const ran = trace.offers.find(hasRun);
      return ran === undefined ? undefined : `${call.label} was answered with ${describeOffer(ran)}`;
    },
    { good: "none was run, and the next call was answered", none: "no such command was sent" },
  );

export const natsJudges: Judges = {
  "UTP-C36": judgeAcknowledged,
  "UTP-C37": unlessPlain(judgeAckAfterLease),
  "UTP-C38": unlessPlain(judgeHeld),
  "UTP-C39": unlessPlain(judgeLater),
  "UTP-C40": judgeSubjects,
  "UTP-C41": judgeForeign,
  "UTP-C42": judgeHeaders,
  "UTP-C43": unlessPlain(judgeRenewed),
  "UTP-C44": judgeContradiction,
};
