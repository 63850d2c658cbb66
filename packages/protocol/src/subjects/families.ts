// The subject families of the protocol (F1-F12, the gateway, tool parts): one builder each, and the way back from a
// parsed subject to its family. Builders return text ready to publish; every id is checked to be one token.

import { type Category, type Component, formatSubject, PROTOCOL_VERSION, type Subject } from "./subject.ts";
import { actorToken, parseToken, streamToken } from "./token.ts";

/** The part of a subject that names project and channel. */
export interface SubjectScope {
  readonly projectId: string;
  readonly channelId: string;
  readonly version?: string;
}

export const GATEWAY_OPERATIONS = [
  "attach",
  "lease",
  "get_card",
  "heartbeat",
  "release",
  "settle",
  "exchange",
  "put_card",
  "report",
  "parts",
  "get_tool",
  "register",
] as const;
export type GatewayOperation = (typeof GATEWAY_OPERATIONS)[number];

export type SubjectFamily =
  | "wakeup"
  | "tool_command"
  | "pmo_command"
  | "ui_action"
  | "judge_retry"
  | "task_event"
  | "step_event"
  | "state_event"
  | "call_event"
  | "inbox_progress"
  | "ui_action_ack"
  | "ui_marker"
  | "chunk"
  | "part"
  | "gateway";

const INTERNAL_PREFIX = "internal.";

const build = (
  { projectId, channelId, version = PROTOCOL_VERSION }: SubjectScope,
  category: Category,
  component: Component,
  rest: Pick<Subject, "target" | "suffix">,
): string => formatSubject({ version, projectId, channelId, category, component, ...rest });

/** F2; `action` may be several tokens. */
export const toolCommandSubject = (scope: SubjectScope, target: string, action: string): string =>
  build(scope, "cmd", "tool", { target, suffix: action });

const agentEvent = (scope: SubjectScope, agentId: string, suffix: string): string =>
  build(scope, "evt", "agent", { target: parseToken(agentId, "agent_id"), suffix });

/** F6 */
export const taskEventSubject = (scope: SubjectScope, agentId: string): string => agentEvent(scope, agentId, "task");

/** F7 */
export const stepEventSubject = (scope: SubjectScope, agentId: string): string => agentEvent(scope, agentId, "step");

/** F8 */
export const stateEventSubject = (scope: SubjectScope, agentId: string): string => agentEvent(scope, agentId, "state");

/** F10 */
export const uiActionAckSubject = (scope: SubjectScope): string =>
  build(scope, "evt", "sys", { target: "ui", suffix: "action_ack" });

/** F11 */
export const uiMarkerSubject = (scope: SubjectScope): string =>
  build(scope, "evt", "sys", { target: "ui", suffix: "marker" });

/** F12, model output as it is written. */
export const chunkStreamSubject = (scope: SubjectScope, agentId: string): string =>
  build(scope, "str", "agent", { target: streamToken(agentId), suffix: "chunk" });

/** A tool's partial output as it is produced. */
export const partStreamSubject = (scope: SubjectScope, agentId: string): string =>
  build(scope, "str", "agent", { target: streamToken(agentId), suffix: "part" });

/** Request/reply of a tool service that has no HTTP; `actor` is `tool.text` or its token `text`. */
export const gatewaySubject = (scope: SubjectScope, actor: string, operation: GatewayOperation): string =>
  build(scope, "rpc", "gateway", { target: actorToken(actor), suffix: operation });

const isGatewayOperation = (text: string): boolean => GATEWAY_OPERATIONS.some((operation) => operation === text);

const AGENT_EVENTS: Readonly<Record<string, SubjectFamily>> = {
  task: "task_event",
  step: "step_event",
  state: "state_event",
  call: "call_event",
  inbox_progress: "inbox_progress",
};

const SYSTEM_COMMANDS: Readonly<Record<string, SubjectFamily>> = {
  "ui.action": "ui_action",
  "judge.retry": "judge_retry",
};

const SYSTEM_EVENTS: Readonly<Record<string, SubjectFamily>> = {
  "ui.action_ack": "ui_action_ack",
  "ui.marker": "ui_marker",
};

const STREAMS: Readonly<Record<string, SubjectFamily>> = { chunk: "chunk", part: "part" };

const own = (table: Readonly<Record<string, SubjectFamily>>, key: string): SubjectFamily | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

const commandFamily = ({ component, target, suffix }: Subject): SubjectFamily | undefined => {
  if (component === "tool") return "tool_command";
  if (component === "agent") return suffix === "wakeup" ? "wakeup" : undefined;
  if (component !== "sys") return undefined;
  if (target === "pmo") return suffix.startsWith(INTERNAL_PREFIX) ? "pmo_command" : undefined;
  return own(SYSTEM_COMMANDS, `${target}.${suffix}`);
};

/** Which family a subject belongs to; undefined for subjects the protocol has no message for. */
export const familyOf = (subject: Subject): SubjectFamily | undefined => {
  const { category, component, target, suffix } = subject;
  if (category === "cmd") return commandFamily(subject);
  if (category === "rpc") return isGatewayOperation(suffix) ? "gateway" : undefined;
  if (component === "agent") return own(category === "evt" ? AGENT_EVENTS : STREAMS, suffix);
  return category === "evt" && component === "sys" ? own(SYSTEM_EVENTS, `${target}.${suffix}`) : undefined;
};
