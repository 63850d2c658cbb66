// What to do with a command, from its subject, headers and payload alone.
//
// | what is wrong                                            | plan    | why                                                |
// |----------------------------------------------------------|---------|----------------------------------------------------|
// | subject unreadable, or of another project, class, target | ignore  | it is not for us                                   |
// | headers say nothing usable                               | swallow | nobody could be told; coming back would not help   |
// | payload carries identity or data, or lacks a field       | refuse  | the caller gets a failed result                    |
// | no turn or call id in the headers                        | refuse  | the card may still say whom to tell                |
// | nothing                                                  | accept  |                                                    |

import {
  type CGContext,
  type CommandPayload,
  HEADERS,
  type Ingress,
  ingress,
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
  /** `sys` for the plane's own services; `tool` for everybody else. */
  readonly component?: "tool" | "sys" | undefined;
}

export type CommandPlan =
  | { readonly kind: "ignore"; readonly reason: string }
  | { readonly kind: "swallow"; readonly error: ToolplaneError }
  | { readonly kind: "refuse"; readonly error: ToolplaneError; readonly context: CGContext }
  | {
      readonly kind: "accept";
      readonly context: CGContext;
      readonly payload: CommandPayload;
      readonly toolCallId: string;
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

export const planCommand = (command: ClaimedCommand, place: RunnerPlace, ids: TraceIds): CommandPlan => {
  const subject = tryParseSubject(command.subject);
  const reason = notOurs(subject, place);
  if (reason !== undefined) return { kind: "ignore", reason };

  const enter = (payload: unknown): Ingress | ToolplaneError =>
    attempt(() => ingress({ subject, headers: command.headers, payload }, ids));
  const entered = enter(command.payload);
  if (isToolplaneError(entered)) {
    // Perhaps only the payload is wrong: then the headers still say whom to tell.
    const bare = enter({});
    return isToolplaneError(bare)
      ? { kind: "swallow", error: entered }
      : { kind: "refuse", error: entered, context: bare.context };
  }

  const { context } = entered;
  const payload = attempt(() => parseCommandPayload(command.payload));
  if (isToolplaneError(payload)) return { kind: "refuse", error: payload, context };
  const { toolCallId } = context;
  if (toolCallId === null) return { kind: "refuse", error: violation(`${HEADERS.toolCallId} is missing`), context };
  if (context.agentTurnId === "") return { kind: "refuse", error: violation(`${HEADERS.turnId} is missing`), context };
  return { kind: "accept", context, payload, toolCallId };
};
