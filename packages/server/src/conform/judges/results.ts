// C18 to C23: what every result must have, however it is handed over.

import { AFTER_EXECUTIONS, isFilled, isRecord, isResultStatus, tryParseTraceparent } from "@toolplane/protocol";
import { type Evidence, isPlain, metadataOf, type Offer } from "../evidence.ts";
import { fail, judgeEach, notApplicable, pass, type Verdict } from "../verdict.ts";
import { type CallOffer, type Judges, offersOf } from "./judge.ts";

const NONE = "there were no results";
const CONTROL = "__cg_control";

const afterExecutionFault = ({ call, offer }: CallOffer): string | undefined => {
  const { afterExecution, label } = call;
  const advice = `the command of ${label} said ${afterExecution}; an override belongs into result.${CONTROL}`;
  const said = offer.body.after_execution;
  if (offer.form === "one-step") {
    // One step needs no copy: the server has the command's.
    return said === undefined || said === null || said === afterExecution
      ? undefined
      : `after_execution came back as ${JSON.stringify(said)}: ${advice}`;
  }
  if (said !== afterExecution) return `the callback says ${JSON.stringify(said ?? null)}: ${advice}`;
  const content = isRecord(offer.card?.content) ? offer.card.content : undefined;
  if (content === undefined || content.after_execution === afterExecution) return undefined;
  return `the result card says ${JSON.stringify(content.after_execution ?? null)}: ${advice}`;
};

/** The places where an override must not be. */
const misplacedIn = ({ body, card, form }: Offer): string | undefined => {
  if (Object.hasOwn(body, CONTROL)) return form === "one-step" ? "beside result" : "in the callback";
  if (card === undefined) return undefined;
  if (Object.hasOwn(card, CONTROL)) return "in the card itself";
  if (isRecord(card.content) && Object.hasOwn(card.content, CONTROL)) return "beside result";
  return Object.hasOwn(metadataOf(card), CONTROL) ? "in the card's metadata" : undefined;
};

const overrideIn = ({ result }: Offer): unknown =>
  isRecord(result) && Object.hasOwn(result, CONTROL) ? result[CONTROL] : undefined;

const judgeOverride = (evidence: Evidence): Verdict => {
  const offers = offersOf(evidence);
  for (const { call, offer } of offers) {
    const place = misplacedIn(offer);
    if (place !== undefined) return fail(`the result of ${call.label} has ${CONTROL} ${place}`);
    const control = overrideIn(offer);
    if (control === undefined) continue;
    const wish = isRecord(control) ? control.after_execution : undefined;
    if (!AFTER_EXECUTIONS.some((word) => word === wish))
      return fail(
        `the override of ${call.label} is ${JSON.stringify(wish ?? null)}, not ${AFTER_EXECUTIONS.join(" or ")}`,
      );
  }
  return offers.some(({ offer }) => overrideIn(offer) !== undefined)
    ? pass("overrides were in their place")
    : notApplicable("no result asked for an override");
};

const errorFault = ({ call, offer: { error, status } }: CallOffer): string | undefined => {
  const good = isRecord(error) && isFilled(error.code) && isFilled(error.message);
  return good ? undefined : `the ${String(status)} result of ${call.label} has no error with code and message`;
};

const spanFault = ({ call, offer }: CallOffer): string | undefined => {
  if (offer.traceparent === undefined) return `the result of ${call.label} came without a traceparent`;
  const span = tryParseTraceparent(offer.traceparent);
  if (span === undefined) return `the result of ${call.label} has a traceparent that cannot be read`;
  if (span.traceId !== call.ids.traceId) return `the result of ${call.label} is in another trace than its command`;
  return span.spanId === call.ids.spanId ? `the result of ${call.label} has the command's own span` : undefined;
};

const leaseFault = ({ call, offer }: CallOffer): string | undefined => {
  if (offer.lease === call.ids.leaseId) return undefined;
  const place = offer.form === "one-step" ? '"lease" in the body' : "the CG-Lease header";
  return `the result of ${call.label} does not name its lease (${place})`;
};

export const resultJudges: Judges = {
  "UTP-C18": (evidence) =>
    judgeEach(
      offersOf(evidence, ({ call }) => call.rules.afterExecution),
      afterExecutionFault,
      { good: "suspend stayed suspend, terminate stayed terminate", none: NONE },
    ),
  "UTP-C19": judgeOverride,
  "UTP-C20": (evidence) =>
    judgeEach(
      offersOf(evidence),
      ({ call, offer }) =>
        isResultStatus(offer.status)
          ? undefined
          : `the status of ${call.label} is ${JSON.stringify(offer.status ?? null)}`,
      { good: "all of them were", none: NONE },
    ),
  "UTP-C21": (evidence) =>
    judgeEach(
      offersOf(evidence).filter(({ offer }) => isResultStatus(offer.status) && offer.status !== "success"),
      errorFault,
      { good: "every failure said why", none: "no result failed" },
    ),
  "UTP-C22": (evidence) =>
    judgeEach(
      offersOf(evidence, ({ call }) => call.rules.identity),
      spanFault,
      { good: "same trace, new span", none: NONE },
    ),
  "UTP-C23": (evidence) =>
    isPlain(evidence)
      ? notApplicable("a plain service takes no leases")
      : judgeEach(
          offersOf(evidence, ({ call }) => call.rules.identity && call.rules.lease),
          leaseFault,
          { good: "every result named it", none: NONE },
        ),
};
