// What to do with a command, from its subject, headers and payload alone. One decision for every way a command comes: with a
// lease from the plane, fetched from NATS without a lease yet, or heard on its subject by a plain service.
//
// | what is wrong                                            | plan    | why                                                |
// |----------------------------------------------------------|---------|----------------------------------------------------|
// | subject unreadable, or of another project, class, target | ignore  | it is not for us                                   |
// | headers say nothing usable                               | swallow | no caller can be told; redelivery would not help   |
// | payload carries identity or data, or lacks a field       | refuse  | the caller gets a failed result                    |
// | no turn or call id in the headers                        | refuse  | the card may still name the caller                 |
// | nothing                                                  | accept  |                                                    |
//
// A refused or swallowed command names the clause it breaks, by its id in the conformance kit. A command from NATS that is not
// leased yet is only a bell that any user of the bus may have sent: whatever is wrong with it, it is terminated
// (lease-commands.ts).

import {
  type CGContext,
  type CommandPayload,
  HEADERS,
  type HeaderMap,
  type Ingress,
  ingress,
  isFilled,
  isRecord,
  isToolplaneError,
  parseCommandPayload,
  type Subject,
  type ToolplaneError,
  type TraceIds,
  tryParseSubject,
  violation,
} from "@toolplane/protocol";
import type { ClaimedCommand } from "../gateway/gateway.ts";

export interface RunnerPlace {
  readonly projectId: string;
  readonly target: string;
  /** `sys` for the plane's own services; `tool` for all others. */
  readonly component?: "tool" | "sys" | undefined;
}

export type CommandPlan =
  | { readonly kind: "ignore"; readonly reason: string }
  | { readonly kind: "swallow"; readonly error: ToolplaneError; readonly clause: string }
  | { readonly kind: "refuse"; readonly error: ToolplaneError; readonly clause: string; readonly context: CGContext }
  | {
      readonly kind: "accept";
      readonly context: CGContext;
      readonly payload: CommandPayload;
      readonly toolCallId: string;
      /** Keys of the payload that look like headers in the wrong place: they are ignored and logged. */
      readonly headerLikeKeys: readonly string[];
    };

const notOurs = (subject: Subject | undefined, place: RunnerPlace): string | undefined => {
  if (subject === undefined) return "the subject does not parse";
  const { component = "tool" } = place;
  if (subject.category !== "cmd" || subject.component !== component)
    return `the subject is not a ${component} command's`;
  if (subject.target !== place.target) return "the command is for another target";
  return subject.projectId === place.projectId ? undefined : "the command is for another project";
};

const attempt = <T>(work: () => T): T | ToolplaneError => {
  try {
    return work();
  } catch (error) {
    if (isToolplaneError(error)) return error;
    throw error;
  }
};

/** Ids of docs/guides/conformance.md. */
const CLAUSE = {
  inlineData: "UTP-C07",
  identityInPayload: "UTP-C08",
  noCallId: "UTP-C10",
  noCard: "UTP-C11",
  noObject: "UTP-C13",
  againstSubject: "UTP-C44",
  payloadFields: "UTP-C45",
  headerValues: "UTP-C46",
} as const;

const headerClause = (subject: Subject | undefined, headers: HeaderMap): string => {
  const contradicts = (name: string, token: string | undefined): boolean =>
    headers[name] !== undefined && headers[name].trim() !== token;
  return contradicts(HEADERS.projectId, subject?.projectId) || contradicts(HEADERS.channelId, subject?.channelId)
    ? CLAUSE.againstSubject
    : CLAUSE.headerValues;
};

const payloadClause = (payload: unknown, { code }: ToolplaneError): string => {
  if (!isRecord(payload)) return CLAUSE.noObject;
  // Ingress has checked the payload for identity, so a forbidden field that is left is data.
  if (code === "protocol_violation") return CLAUSE.inlineData;
  return isFilled(payload.tool_call_card_id) ? CLAUSE.payloadFields : CLAUSE.noCard;
};

export const planCommand = (command: ClaimedCommand, place: RunnerPlace, ids: TraceIds): CommandPlan => {
  const subject = tryParseSubject(command.subject);
  const reason = notOurs(subject, place);
  if (reason !== undefined) return { kind: "ignore", reason };

  const enter = (payload: unknown): Ingress | ToolplaneError =>
    attempt(() => ingress({ subject, headers: command.headers, payload }, ids));
  const entered = enter(command.payload);
  if (isToolplaneError(entered)) {
    // If only the payload is wrong, the headers still name the caller.
    const bare = enter({});
    return isToolplaneError(bare)
      ? { kind: "swallow", error: bare, clause: headerClause(subject, command.headers) }
      : { kind: "refuse", error: entered, clause: CLAUSE.identityInPayload, context: bare.context };
  }

  const { context, headerLikeKeys } = entered;
  const payload = attempt(() => parseCommandPayload(command.payload));
  if (isToolplaneError(payload))
    return { kind: "refuse", error: payload, clause: payloadClause(command.payload, payload), context };
  const { toolCallId } = context;
  if (toolCallId === null)
    return { kind: "refuse", error: violation(`${HEADERS.toolCallId} is missing`), clause: CLAUSE.noCallId, context };
  if (context.agentTurnId === "")
    return { kind: "refuse", error: violation(`${HEADERS.turnId} is missing`), clause: CLAUSE.headerValues, context };
  return { kind: "accept", context, payload, toolCallId, headerLikeKeys };
};
