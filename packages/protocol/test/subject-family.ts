// The family of a subject, as the corpus for other languages names it. The plane itself only parses subjects and matches patterns.

import { GATEWAY_OPERATIONS } from "../src/subjects/families.ts";
import type { Subject } from "../src/subjects/subject.ts";

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
