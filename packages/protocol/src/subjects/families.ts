// The subject families of the protocol (F1-F12, the gateway, tool parts): one builder for each that the plane or a service publishes.
// Builders return text ready to publish; every id is checked to be one token.

import { type Category, type Component, formatSubject, PROTOCOL_VERSION, type Subject } from "./subject.ts";
import { actorToken, parseToken, streamToken } from "./token.ts";

/** The part of a subject that names project and channel. */
export interface SubjectScope {
  readonly projectId: string;
  readonly channelId: string;
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

const build = (
  { projectId, channelId }: SubjectScope,
  category: Category,
  component: Component,
  rest: Pick<Subject, "target" | "suffix">,
): string => formatSubject({ version: PROTOCOL_VERSION, projectId, channelId, category, component, ...rest });

/** F2 for a tool without a definition, as test kits spell it; the plane uses `commandSubject`. `action` may be several tokens. */
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
