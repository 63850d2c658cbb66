// Which webhooks are told of an event of the log, and what. Pure.
//   An event has a name: `call.` and a phase of a call's life, or `turn.ended`. Other events of the log are not for webhooks.
//   A body says which call or turn it is about and what became of it. Arguments and results stay in the plane: the receiver reads
//   them with a token.

import { isRecord, type JsonObject, tryParseJsonStrict, tryParseSubject } from "@toolplane/protocol";
import type { CallPhase } from "@toolplane/protocol/agents";

const CALL_PHASES = [
  "dispatched",
  "leased",
  "settled",
  "canceled",
  "retried",
  "approval_wanted",
  "approval_decided",
  "dead",
] as const satisfies readonly CallPhase[];

export const WEBHOOK_EVENTS: readonly string[] = [...CALL_PHASES.map((phase) => `call.${phase}`), "turn.ended"];

/** What a webhook of one call is told unless it says otherwise: that the call is over. */
export const ENDS_OF_CALL: readonly string[] = ["call.settled", "call.canceled", "call.dead"];

export interface Listener {
  readonly webhookId: string;
  /** For one call only. */
  readonly toolCallId: string | null;
  /** Names of events; `*` is all of them, `call.*` all of calls. */
  readonly events: readonly string[];
}

export interface NamedEvent {
  readonly name: string;
  /** The call or the turn: deliveries about one of them stay in order. */
  readonly orderKey: string;
  readonly toolCallId: string | undefined;
  readonly data: JsonObject;
}

/** Undefined for events that are not for webhooks. */
export const nameEvent = (event: { readonly subject: string; readonly payload: string }): NamedEvent | undefined => {
  const last = tryParseSubject(event.subject)?.suffix;
  if (last !== "call" && last !== "task") return undefined;
  const data = tryParseJsonStrict(event.payload);
  if (!isRecord(data)) return undefined;
  const { phase, tool_call_id: callId, agent_turn_id: turnId } = data;
  if (last === "task")
    return typeof turnId === "string"
      ? { name: "turn.ended", orderKey: turnId, toolCallId: undefined, data: data as JsonObject }
      : undefined;
  if (typeof phase !== "string" || typeof callId !== "string") return undefined;
  return { name: `call.${phase}`, orderKey: callId, toolCallId: callId, data: data as JsonObject };
};

export const isWanted = (listener: Listener, { name, toolCallId }: NamedEvent): boolean => {
  if (listener.toolCallId !== null && listener.toolCallId !== toolCallId) return false;
  const kind = `${name.slice(0, name.indexOf("."))}.*`;
  return listener.events.some((wanted) => wanted === "*" || wanted === name || wanted === kind);
};

/** The seconds before each further attempt: about eleven hours in all, then the delivery is dead. */
const PAUSES = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600] as const;

/** Undefined: it was the last attempt. `attempts` counts this one. */
export const planPause = (attempts: number): number | undefined => PAUSES[attempts - 1];
