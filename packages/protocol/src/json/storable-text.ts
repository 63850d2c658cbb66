// Text that PostgreSQL can store: without a NUL and without half a surrogate pair. Everything from outside is checked once,
// where it comes in, so that no field needs a check of its own.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { formatJsonPath, type JsonPathSegment } from "./json-path.ts";

/** What is wrong with the text; undefined when it can be stored. */
export const textFault = (text: string): string | undefined => {
  if (text.includes("\0")) return "a NUL character";
  return text.isWellFormed() ? undefined : "a lone surrogate";
};

/** As much of the text as can be stored, with a mark in place of what cannot. */
export const storableText = (text: string, maxChars?: number): string =>
  text.slice(0, maxChars).toWellFormed().replaceAll("\0", "\ufffd");

export const isStorable = (text: string): boolean => textFault(text) === undefined;

/**
 * In JSON that was decoded from UTF-8, both need an escape: a text without these escapes need not be searched. A text with them
 * may still be right: `\ud83d\ude00` is a whole pair.
 */
export const mayBeUnstorable = (json: string): boolean =>
  json.includes("\\u0000") || json.includes("\\ud") || json.includes("\\uD");

interface Fault {
  readonly path: readonly JsonPathSegment[];
  readonly reason: string;
}

const findFault = (value: unknown): Fault | undefined => {
  if (typeof value === "string") {
    const reason = textFault(value);
    return reason === undefined ? undefined : { path: [], reason };
  }
  if (typeof value !== "object" || value === null) return undefined;
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    const wrongName = textFault(key);
    if (wrongName !== undefined) return { path: [], reason: `${wrongName} in a name` };
    const fault = findFault(item);
    if (fault !== undefined) return { ...fault, path: [isList ? Number(key) : key, ...fault.path] };
  }
  return undefined;
};

/** Refuses a value that holds text the database cannot store, anywhere and in names too. `what` names the value. */
export const refuseUnstorable = (value: unknown, what: string): void => {
  const fault = findFault(value);
  if (fault === undefined) return;
  const path = formatJsonPath(fault.path);
  throw new ToolplaneError("bad_request", `${what} has ${fault.reason} at ${path}: leave it out, it cannot be stored`, {
    detail: { path, reason: fault.reason },
  });
};
