// Which events a reader wants: of some kinds, of one agent, one tool, one turn or one call. Pure.

import { isRecord, showName, streamToken, ToolplaneError, tryParseSubject } from "@toolplane/protocol";
import { z } from "zod";

export const EVENT_KINDS = ["call", "turn", "step", "state", "text", "part", "other"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

export interface EventFilter {
  readonly kinds?: ReadonlySet<EventKind> | undefined;
  readonly agentId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly turnId?: string | undefined;
  readonly callId?: string | undefined;
}

const id = z.string().min(1).max(128).optional();

export const eventQuery = z.strictObject({
  kind: z
    .string()
    .max(100)
    .optional()
    .meta({ description: `Only these kinds, with commas between them: ${EVENT_KINDS.join(", ")}.` }),
  agent_id: id,
  tool_name: id.meta({ description: "Events of calls of this tool." }),
  agent_turn_id: id,
  tool_call_id: id,
});

const isKind = (word: string): word is EventKind => (EVENT_KINDS as readonly string[]).includes(word);

const kindsOf = (text: string | undefined): ReadonlySet<EventKind> | undefined => {
  if (text === undefined) return undefined;
  const words = text.split(",").map((word) => word.trim());
  const wrong = words.find((word) => !isKind(word));
  if (wrong !== undefined)
    throw new ToolplaneError(
      "bad_request",
      `kind takes ${EVENT_KINDS.join(", ")}, with commas between them, not ${showName(wrong)}`,
      { detail: { path: "$.kind" } },
    );
  return new Set(words.filter(isKind));
};

export const filterOf = (query: z.infer<typeof eventQuery>): EventFilter => ({
  kinds: kindsOf(query.kind),
  agentId: query.agent_id,
  toolName: query.tool_name,
  turnId: query.agent_turn_id,
  callId: query.tool_call_id,
});

interface Filtered {
  readonly subject: string;
  readonly payload: unknown;
}

const KIND_OF: Readonly<Record<string, EventKind>> = {
  "evt call": "call",
  "evt task": "turn",
  "evt step": "step",
  "evt state": "state",
  "str chunk": "text",
  "str part": "part",
};

/** The kind and the agent, as the subject says them. */
const subjectOf = (subject: string): { readonly kind: EventKind; readonly agent: string | undefined } => {
  const parsed = tryParseSubject(subject);
  if (parsed?.component !== "agent") return { kind: "other", agent: undefined };
  return { kind: KIND_OF[`${parsed.category} ${parsed.suffix}`] ?? "other", agent: parsed.target };
};

export const passesFilter = ({ kinds, agentId, toolName, turnId, callId }: EventFilter, event: Filtered): boolean => {
  if ([kinds, agentId, toolName, turnId, callId].every((wanted) => wanted === undefined)) return true;
  const { kind, agent } = subjectOf(event.subject);
  const said = isRecord(event.payload) ? event.payload : {};
  if (kinds?.has(kind) === false) return false;
  if (agentId !== undefined && agent !== streamToken(agentId)) return false;
  if (toolName !== undefined && said.tool_name !== toolName) return false;
  if (turnId !== undefined && said.agent_turn_id !== turnId) return false;
  return callId === undefined || said.tool_call_id === callId;
};
