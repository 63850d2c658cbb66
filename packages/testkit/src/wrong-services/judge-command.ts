// What the reference service finds wrong with a command and its card, check by check.

import { type Check, type Command, isRecord, type Json, payloadOf } from "./habits.ts";

const INLINE = ["args", "arguments", "result"];
const IDENTITY = [
  "project_id",
  "channel_id",
  "agent_id",
  "agent_turn_id",
  "turn_epoch",
  "step_id",
  "tool_call_id",
  "trace_id",
  "traceparent",
  "parent_step_id",
  "recursion_depth",
];

const CALL_CONTENT = "ToolCallContent";

/** Named, because some wrong services treat one of them differently. */
export const INLINE_FAULT = "arguments belong into the card";
export const NO_CARD_FAULT = "there is no such card";

const WORDS: ReadonlySet<unknown> = new Set(["suspend", "terminate"]);
const COUNT = /^[0-9]{1,10}$/;
const SPAN = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/i;

const isComplete = ({ tool_name, after_execution }: Json): boolean =>
  typeof tool_name === "string" && tool_name !== "" && WORDS.has(after_execution);

const areReadable = (headers: Command["headers"]): boolean =>
  COUNT.test(headers["CG-Turn-Epoch"] ?? "0") &&
  COUNT.test(headers["CG-Recursion-Depth"] ?? "0") &&
  SPAN.test(headers.traceparent ?? "");

type Finding = readonly [check: Check, isWrong: boolean, message: string];

const findings = (command: Command, callId: string, card: Json | undefined): readonly Finding[] => {
  const payload = payloadOf(command);
  const content = isRecord(card?.content) ? card.content : {};
  const there = card ?? {};
  const [, , project, channel] = command.subject.split(".");
  const said = [command.headers["CG-Project-Id"] ?? project, command.headers["CG-Channel-Id"] ?? channel];
  return [
    ["headers agree", said[0] !== project || said[1] !== channel, "the headers contradict the subject"],
    ["headers can be read", !areReadable(command.headers), "a header has a value that is none"],
    ["payload is an object", !isRecord(command.payload), "the payload is not an object"],
    ["no inline data", INLINE.some((key) => key in payload), INLINE_FAULT],
    ["no identity", IDENTITY.some((key) => key in payload), "identity belongs into the headers"],
    ["card is named", isRecord(command.payload) && !payload.tool_call_card_id, "tool_call_card_id is missing"],
    ["payload is complete", isRecord(command.payload) && !isComplete(payload), "a field is missing or no word"],
    ["card is there", card === undefined, NO_CARD_FAULT],
    ["card is a tool.call", card !== undefined && there.type !== "tool.call", "the card is not a tool.call"],
    ["card is this call's", card !== undefined && there.tool_call_id !== callId, "the card is another call's"],
    [
      "content is a call",
      card !== undefined && (content.__type__ !== CALL_CONTENT || !isRecord(content.arguments)),
      "the card holds no call",
    ],
  ];
};

/** The first fault among the checks that are made. */
export const findFault = (
  command: Command,
  callId: string,
  card: Json | undefined,
  checks: ReadonlySet<Check>,
): string | undefined => {
  const found = findings(command, callId, card).find(([check, isWrong]) => isWrong && checks.has(check));
  return found?.[2];
};

/** The card's arguments, or nothing where a careless service finds none. */
export const argumentsOf = (card: Json | undefined): Json => {
  const content = isRecord(card?.content) ? card.content : {};
  return isRecord(content.arguments) ? content.arguments : {};
};
