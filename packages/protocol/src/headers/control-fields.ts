// The identity fields that may travel only in headers. A command that carries one of them in its payload is refused,
// so a payload can never disagree with the headers about who is calling (exact names, top level only).
// Unknown keys that are not on the list pass (D-04, W-36).

import { violation } from "../errors/toolplane-error.ts";

export type Payload = Readonly<Record<string, unknown>>;

export const CONTROL_FIELDS: readonly string[] = [
  "project_id",
  "channel_id",
  "channel",
  "agent_id",
  "agent_turn_id",
  "turn_epoch",
  "step_id",
  "tool_call_id",
  "trace_id",
  "traceparent",
  "tracestate",
  "parent_agent_id",
  "parent_agent_turn_id",
  "parent_step_id",
  "parent_traceparent",
  "recursion_depth",
];

/** All that a resume refuses: the control fields and `source_agent_id`. The row says where a result comes from, never the payload. */
export const RESUME_CONTROL_FIELDS: readonly string[] = [...CONTROL_FIELDS, "source_agent_id"];

const CONTROL_SET: ReadonlySet<string> = new Set(CONTROL_FIELDS);
const RESUME_SET: ReadonlySet<string> = new Set(RESUME_CONTROL_FIELDS);

const EMPTY_PAYLOAD: Payload = Object.freeze({});

const isObject = (value: unknown): value is Payload =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A payload that is not an object counts as an empty one. */
export const payloadObject = (payload: unknown): Payload => (isObject(payload) ? payload : EMPTY_PAYLOAD);

/** The control fields a payload carries, sorted; the same empty list whenever there are none. */
export const controlFieldsOf = (payload: Payload, resume = false): readonly string[] => {
  const forbidden = resume ? RESUME_SET : CONTROL_SET;
  let found: string[] | undefined;
  for (const key of Object.keys(payload)) {
    if (!forbidden.has(key)) continue;
    if (found === undefined) found = [key];
    else found.push(key);
  }
  return found === undefined ? NONE : found.sort();
};

const NONE: readonly string[] = Object.freeze([]);

/** `boundary` says where the message was stopped: `cmd ingress`, `replay ingress`. */
export const refuseControlFields = (payload: Payload, boundary: string, resume = false): void => {
  const fields = controlFieldsOf(payload, resume);
  if (fields.length > 0) {
    throw violation(`${boundary}: payload carries control fields: ${fields.join(", ")}`, { boundary, fields });
  }
};

export const stripControlFields = (payload: Payload): Payload => {
  if (controlFieldsOf(payload).length === 0) return payload;
  // fromEntries defines properties: assigning a `__proto__` key would change the prototype instead.
  return Object.fromEntries(Object.entries(payload).filter(([key]) => !CONTROL_SET.has(key)));
};

/** Keys that look like headers in the wrong place. They are only logged. */
export const headerLikeKeys = (payload: Payload): readonly string[] => {
  let found: string[] | undefined;
  for (const key of Object.keys(payload)) {
    if (key.length < 3 || key.slice(0, 3).toLowerCase() !== "cg-") continue;
    if (found === undefined) found = [key];
    else found.push(key);
  }
  return found ?? NONE;
};
