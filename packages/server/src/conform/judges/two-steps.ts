// C24 to C29: what a service writes itself when it hands a result over as a card and a report. In one step the server
// writes all of it.

import { controlFieldsOf, isRecord, LINEAGE_KEYS, lineageDifference } from "@toolplane/protocol";
import { type Evidence, metadataOf } from "../evidence.ts";
import { judgeEach, notApplicable, type Verdict } from "../verdict.ts";
import { type CallOffer, type Judges, offersOf } from "./judge.ts";

const ONE_STEP = "results come in one step, so the server writes the card and the report";
const CONTENT_KEYS: ReadonlySet<string> = new Set(["__type__", "status", "after_execution", "result", "error"]);
const INLINE = ["result", "args", "arguments"] as const;

const judgeReports = (
  evidence: Evidence,
  matches: (offer: CallOffer) => boolean,
  findFault: (offer: CallOffer) => string | undefined,
  good: string,
): Verdict => {
  const reports = offersOf(evidence).filter(({ offer }) => offer.form === "report");
  if (reports.length === 0) return notApplicable(ONE_STEP);
  return judgeEach(reports.filter(matches), findFault, { good, none: "no report had a card to look at" });
};

const hasCard = ({ offer }: CallOffer): boolean => offer.card !== undefined;

const contentFault = ({ call, offer }: CallOffer): string | undefined => {
  const { type, content } = offer.card ?? {};
  if (type !== "tool.result")
    return `the card of ${call.label} is a ${JSON.stringify(type ?? null)}, not a tool.result`;
  if (!isRecord(content)) return `the card of ${call.label} has no content`;
  if (content.__type__ !== "ToolResultContent")
    return `the content of ${call.label} is ${JSON.stringify(content.__type__ ?? null)}, not ToolResultContent`;
  const strange = Object.keys(content).find((key) => !CONTENT_KEYS.has(key));
  return strange === undefined ? undefined : `the content of ${call.label} has a key ${strange} that it may not have`;
};

const lineageFault = ({ call, offer }: CallOffer): string | undefined => {
  const said = metadataOf(offer.card);
  const key = lineageDifference(said, metadataOf(call.card));
  return key === undefined
    ? undefined
    : `the result card of ${call.label} has ${key} ${JSON.stringify(said[key] ?? null)}, its call has ${JSON.stringify(metadataOf(call.card)[key] ?? null)}`;
};

const callbackFault = ({ call, offer }: CallOffer): string | undefined => {
  const inlined = INLINE.filter((key) => Object.hasOwn(offer.body, key));
  const [field] = [...inlined, ...controlFieldsOf(offer.body, true)];
  return field === undefined ? undefined : `the callback of ${call.label} carries ${field}`;
};

export const twoStepJudges: Judges = {
  "UTP-C24": (evidence) =>
    judgeReports(
      evidence,
      () => true,
      ({ call, offer }) =>
        offer.cardWasThere ? undefined : `${call.label} was reported with a card that was not there`,
      "every report pointed to a card that was there",
    ),
  "UTP-C25": (evidence) => judgeReports(evidence, hasCard, contentFault, "every card did"),
  "UTP-C26": (evidence) =>
    judgeReports(
      evidence,
      (offer) => hasCard(offer) && offer.call.rules.lineage,
      lineageFault,
      `${LINEAGE_KEYS.join(", ")} were the call's`,
    ),
  "UTP-C27": (evidence) =>
    judgeReports(
      evidence,
      hasCard,
      ({ call, offer }) => {
        const actor = `tool.${evidence.target}`;
        const author = offer.card?.author_id;
        return author === actor
          ? undefined
          : `the result card of ${call.label} is by ${JSON.stringify(author ?? null)}, not by ${actor}`;
      },
      `every card is by tool.${evidence.target}`,
    ),
  "UTP-C28": (evidence) =>
    judgeReports(
      evidence,
      // A payload that is not an object names no tool.
      (offer) => hasCard(offer) && isRecord(offer.call.command.payload) && offer.call.rules.toolName,
      ({ call, offer }) => {
        const name = metadataOf(offer.card).function_name;
        return name === evidence.toolName
          ? undefined
          : `the result card of ${call.label} has function_name ${JSON.stringify(name ?? null)}, not ${evidence.toolName}`;
      },
      `every card says ${evidence.toolName}`,
    ),
  "UTP-C29": (evidence) =>
    judgeReports(evidence, () => true, callbackFault, "status, after_execution and the pointer were enough"),
};
