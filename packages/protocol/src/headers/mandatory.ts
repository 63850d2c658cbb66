// Which headers a message cannot do without, by its subject family.

import { violation } from "../errors/toolplane-error.ts";
import { familyOf, type SubjectFamily } from "../subjects/families.ts";
import type { Subject } from "../subjects/subject.ts";
import type { HeaderMap } from "./header-map.ts";
import { HEADERS, type HeaderName } from "./header-names.ts";

/** Without turn and call id a tool service could not even report that the command was wrong. */
const COMMAND = [HEADERS.traceparent, HEADERS.agentId, HEADERS.turnId, HEADERS.toolCallId] as const;
const TRACED = [HEADERS.traceparent] as const;
const NONE: readonly HeaderName[] = [];

const BY_FAMILY: Partial<Record<SubjectFamily, readonly HeaderName[]>> = {
  wakeup: [HEADERS.traceparent, HEADERS.agentId],
  tool_command: COMMAND,
  pmo_command: COMMAND,
  ui_action: [HEADERS.traceparent, HEADERS.agentId, HEADERS.turnId],
  gateway: [HEADERS.agentId],
};

export const mandatoryHeaders = (subject: Subject): readonly HeaderName[] => {
  const family = familyOf(subject);
  const listed = family === undefined ? undefined : BY_FAMILY[family];
  if (listed !== undefined) return listed;
  return subject.category === "cmd" || subject.category === "evt" ? TRACED : NONE;
};

export const missingHeaders = (subject: Subject, headers: HeaderMap): readonly HeaderName[] =>
  mandatoryHeaders(subject).filter((name) => (headers[name] ?? "").trim() === "");

export const requireHeaders = (subject: Subject, headers: HeaderMap): void => {
  const missing = missingHeaders(subject, headers);
  if (missing.length > 0) throw violation(`missing headers: ${missing.join(", ")}`, { missing });
};
