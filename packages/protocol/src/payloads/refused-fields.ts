// Keys that may not appear in a payload, and the one way to say so. Identity travels in headers; arguments and results travel
// in cards. A payload that carries a copy of either could disagree with the truth, so it is refused, not ignored.

import { type ErrorDetail, ToolplaneError, violation } from "../errors/toolplane-error.ts";
import { CONTROL_FIELDS, RESUME_CONTROL_FIELDS } from "../headers/control-fields.ts";
import { shortText } from "../json/json-path.ts";

/** Inline data: belongs into the tool.call or tool.result card. */
const INLINE_FIELDS = ["args", "arguments", "result"] as const;

export const REFUSED_IN_COMMAND: ReadonlySet<string> = new Set([...CONTROL_FIELDS, ...INLINE_FIELDS]);
/** The connection says who reports, so the longer list of a resume applies here. */
export const REFUSED_IN_CALLBACK: ReadonlySet<string> = new Set([...RESUME_CONTROL_FIELDS, ...INLINE_FIELDS]);

export const badPayload = (boundary: string, message: string, detail: ErrorDetail = {}): ToolplaneError =>
  new ToolplaneError("bad_request", `${boundary}: ${message}`, { detail: { boundary, ...detail } });

/** Enough to find the mistake; the names are foreign text. */
const MAX_SHOWN_FIELDS = 16;
const MAX_FIELD_LENGTH = 100;

export interface KeyRules {
  readonly known: ReadonlySet<string>;
  readonly refused: ReadonlySet<string>;
}

/** Unknown keys are extensions and pass, except in strict mode; refused keys never pass. */
export const checkPayloadKeys = (
  payload: Readonly<Record<string, unknown>>,
  rules: KeyRules,
  boundary: string,
  strict = false,
): void => {
  const foreign = Object.keys(payload).filter((key) => !rules.known.has(key));
  if (foreign.length === 0) return;
  const fields = foreign.filter((key) => rules.refused.has(key)).sort();
  if (fields.length > 0) {
    throw violation(`${boundary}: the payload may not carry ${fields.join(", ")}`, { boundary, fields });
  }
  if (!strict) return;
  const shown = foreign
    .sort()
    .slice(0, MAX_SHOWN_FIELDS)
    .map((field) => shortText(field, MAX_FIELD_LENGTH));
  throw badPayload(boundary, `unknown fields ${shown.join(", ")}`, { fields: shown });
};
