// An event of a project as one line that a person reads: when, which agent, what happened. Pure.

import { isRecord } from "@toolplane/protocol";
import type { Body, PlaneEvent } from "@toolplane/sdk/client";
import type { EventKind } from "../events/event-filter.ts";
import { cellOf, textOf } from "./body.ts";
import { jsonText, oneLine, shorten } from "./plain-text.ts";
import { tokensIn } from "./show-turn.ts";
import { spanText } from "./time-text.ts";
import { type Tone, toneOf } from "./tone.ts";
import { isStopStep } from "./turn-outcome.ts";

export interface EventLine {
  readonly kind: EventKind;
  /** ISO time; undefined when the event does not say it. */
  readonly at: string | undefined;
  readonly agent: string;
  readonly toolName?: string | undefined;
  readonly turnId?: string | undefined;
  /** Of a call: where in its life it is. */
  readonly phase?: string | undefined;
  readonly text: string;
  readonly tone: Tone | undefined;
  /** What the line is about, once: a call or a turn. */
  readonly id: string;
}

/** `cg.v1r4.project.channel.`: the same in every event of one project. */
const COMMON_TOKENS = 4;
const AGENT_TOKEN = 2;
const TEXT_WIDTH = 200;

/** A token has no dot; the plane's own actors are written with an underscore there. */
const agentOf = (token: string): string => (token.startsWith("sys_") ? token.replace("_", ".") : token);

const PHASES: Readonly<Record<string, (call: Body) => string>> = {
  dispatched: () => "asked for",
  // 0: a service that never leases was sent its command.
  leased: (call) =>
    call.attempt === 1 || call.attempt === 0 ? "runs" : `runs, attempt ${cellOf(call, "attempt") ?? "?"}`,
  settled: (call) => textOf(call, "status") ?? "settled",
  canceled: () => "canceled",
  retried: () => "goes back to the queue",
  approval_wanted: () => "waits for a person to approve it",
  approval_decided: () => "was decided by a person",
  dead: (call) => `given up: ${textOf(call, "status") ?? "failed"}`,
};

/** A call goes on after every other phase. */
export const CALL_ENDS: ReadonlySet<string> = new Set(["settled", "canceled", "dead"]);

const callLine = (call: Body): Pick<EventLine, "text" | "tone" | "id" | "toolName" | "phase"> => {
  const phase = textOf(call, "phase") ?? "?";
  const toolName = textOf(call, "tool_name") ?? "?";
  const tone = phase === "settled" ? toneOf(textOf(call, "status")) : phase === "dead" ? "bad" : toneOf(phase);
  return {
    toolName,
    phase,
    text: `${toolName} ${PHASES[phase]?.(call) ?? phase}`,
    tone: phase === "approval_wanted" || phase === "retried" ? "attention" : tone,
    id: `call ${textOf(call, "tool_call_id") ?? "?"}`,
  };
};

const taskLine = (task: Body): Pick<EventLine, "text" | "tone"> => {
  const stats = isRecord(task.stats) ? task.stats : {};
  const code = textOf(task, "error_code");
  const status = code === "stopped" ? "stopped" : (textOf(task, "status") ?? "?");
  const tokens = tokensIn(stats.llm_usage);
  const cost = [
    typeof stats.step_count === "number" ? `${stats.step_count} steps` : "",
    typeof stats.duration_ms === "number" ? spanText(stats.duration_ms) : "",
    tokens === 0 ? "" : `${tokens} tokens`,
  ].filter((part) => part !== "");
  const why = code === undefined ? "" : `: ${code === "stopped" ? "" : `${code}: `}${textOf(task, "error") ?? ""}`;
  return { text: `ended: ${status}${cost.length === 0 ? "" : ` (${cost.join(", ")})`}${why}`, tone: toneOf(status) };
};

const stateText = (state: Body): string => {
  const more = isRecord(state.metadata) ? state.metadata : {};
  const status = textOf(state, "status") ?? "?";
  const waits = typeof more.waiting_tool_count === "number" ? more.waiting_tool_count : 0;
  // The event after a result is told when the result is read, which may be after the end of the other calls too.
  if (status === "suspended" && !Array.isArray(more.waiting_tool_call_ids))
    return `reads a result, ${waits} more to read`;
  if (status === "suspended") return `waits for ${waits} ${waits === 1 ? "call" : "calls"}`;
  if (status === "running") return textOf(more, "activity") ?? "runs";
  return status === "dispatched" ? "is handed to a worker" : `agent is ${status}`;
};

const stepText = (stepId = "?", phase = ""): string =>
  isStopStep(stepId) ? "was stopped" : `step ${stepId.slice(stepId.lastIndexOf("_") + 1)} ${phase}`;

const rest = (kind: string, said: Body): Pick<EventLine, "kind" | "text" | "tone"> & { readonly toolName?: string } => {
  const status = textOf(said, "status");
  switch (kind) {
    case "task":
      return { kind: "turn", ...taskLine(said) };
    case "state":
      return { kind: "state", text: stateText(said), tone: toneOf(status) };
    case "step": {
      const phase = textOf(said, "phase");
      return { kind: "step", text: stepText(textOf(said, "step_id"), phase), tone: toneOf(phase) };
    }
    case "chunk":
      return { kind: "text", text: `says ${jsonText(textOf(said, "content") ?? "")}`, tone: undefined };
    case "part":
      return { kind: "part", text: `shows ${jsonText(said.part ?? null)}`, tone: undefined };
    default:
      return { kind: "other", text: jsonText(said), tone: undefined };
  }
};

/** Undefined for what says nothing to a person: the start and the end of a model's text. */
export const planEventLine = ({ subject, payload }: Pick<PlaneEvent, "subject" | "payload">): EventLine | undefined => {
  const tokens = subject.split(".").slice(COMMON_TOKENS);
  const kind = tokens.at(-1) ?? "";
  const said: Body = isRecord(payload) ? payload : {};
  if (kind === "chunk" && said.chunk_type !== "content") return undefined;
  const isAgent = tokens[1] === "agent";
  const turnId = textOf(said, "agent_turn_id");
  const common = {
    at: textOf(said, "at") ?? textOf(said, "updated_at"),
    agent: isAgent ? agentOf(tokens[AGENT_TOKEN] ?? "?") : tokens.join("."),
    turnId,
  };
  if (kind === "call" && isAgent) return { ...common, kind: "call", ...callLine(said) };
  const callId = kind === "part" ? textOf(said, "tool_call_id") : undefined;
  const id = callId === undefined ? (turnId ?? "") : `call ${callId}`;
  const line = isAgent ? rest(kind, said) : rest("", said);
  return { ...common, ...line, text: shorten(oneLine(line.text), TEXT_WIDTH), id };
};
