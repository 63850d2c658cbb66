// What an event says about a call, a turn or an agent's words. Pure.

import type { PlaneEvent } from "./event-stream.ts";

export interface CallEvent {
  readonly toolCallId: string;
  readonly turnId: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly phase: string;
  readonly status: string;
  readonly attempt: number;
  /** Of the end of a call that has an error. */
  readonly errorCode: string;
  readonly at: string;
}

const textIn = (payload: PlaneEvent["payload"], name: string): string => {
  const value = payload[name];
  return typeof value === "string" ? value : "";
};

/** `cg.v1r4.{project}.{channel}.evt.agent.{agent}.{kind}` */
const AGENT_TOKEN = 6;

/** A token has no dot; the plane's own actors are written with an underscore there. */
export const agentOf = ({ subject }: Pick<PlaneEvent, "subject">): string => {
  const token = subject.split(".")[AGENT_TOKEN] ?? "";
  return token.startsWith("sys_") ? token.replace("_", ".") : token;
};

export const kindOf = ({ subject }: Pick<PlaneEvent, "subject">): string => subject.slice(subject.lastIndexOf(".") + 1);

export const tryParseCallEvent = (event: PlaneEvent): CallEvent | undefined => {
  if (!event.isLogged || kindOf(event) !== "call") return undefined;
  const { payload } = event;
  const toolCallId = textIn(payload, "tool_call_id");
  if (toolCallId === "") return undefined;
  return {
    toolCallId,
    turnId: textIn(payload, "agent_turn_id"),
    agentId: agentOf(event),
    toolName: textIn(payload, "tool_name"),
    phase: textIn(payload, "phase"),
    status: textIn(payload, "status"),
    errorCode: textIn(payload, "error_code"),
    attempt: typeof payload.attempt === "number" ? payload.attempt : 1,
    at: textIn(payload, "at"),
  };
};

/** The turn that an event belongs to; "" when it belongs to none. */
export const turnOf = ({ payload }: PlaneEvent): string => textIn(payload, "agent_turn_id");
export const callOf = ({ payload }: PlaneEvent): string => textIn(payload, "tool_call_id");
