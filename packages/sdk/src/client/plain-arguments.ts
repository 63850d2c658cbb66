// The arguments of a call are refused where JSON.stringify would change them without a word: NaN becomes null, a Map {}. Checked for every
// call, so nothing is copied and a path is made only for a fault. Left out members and `toJSON` (a Date) are as JSON.stringify has them.
// A text and null are taken: a model's arguments come as a text, and some models send null for a tool without parameters.

import {
  badRequest,
  formatJsonPath,
  isToolplaneError,
  type JsonPathSegment,
  MAX_JSON_DEPTH,
} from "@toolplane/protocol";

interface Fault {
  readonly what: string;
  /** From the inside out. */
  readonly path: JsonPathSegment[];
}

const fault = (what: string): Fault => ({ what, path: [] });

const within = (found: Fault, segment: JsonPathSegment): Fault => {
  found.path.push(segment);
  return found;
};

const article = (name: string): string => `${/^[AEIO]/i.test(name) ? "an" : "a"} ${name}`;

const hasToJson = (value: object): value is { toJSON(key: string): unknown } =>
  typeof (value as { toJSON?: unknown }).toJSON === "function";

/** `{}` of any realm: its prototype has none. */
const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
};

const nameOf = (value: object): string => {
  const made: unknown = value.constructor;
  return typeof made === "function" && made.name !== "" ? made.name : "object of a class";
};

const faultInside = (value: object, key: string, levels: number): Fault | undefined => {
  if (levels === 0) return fault(`more than ${MAX_JSON_DEPTH} levels, or a cycle,`);
  if (hasToJson(value)) {
    if (value instanceof Date && Number.isNaN(value.getTime())) return fault("an invalid Date");
    const said = value.toJSON(key);
    return said === value ? undefined : faultOf(said, key, levels - 1);
  }
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const item: unknown = value[at];
      const found = item === undefined ? fault("undefined") : faultOf(item, String(at), levels - 1);
      if (found !== undefined) return within(found, at);
    }
    return undefined;
  }
  if (!isPlain(value)) return fault(article(nameOf(value)));
  for (const name of Object.keys(value)) {
    const found = faultOf((value as Record<string, unknown>)[name], name, levels - 1);
    if (found !== undefined) return within(found, name);
  }
  return undefined;
};

const faultOf = (value: unknown, key: string, levels: number): Fault | undefined => {
  switch (typeof value) {
    case "object":
      return value === null ? undefined : faultInside(value, key, levels);
    case "number":
      return Number.isFinite(value) ? undefined : fault(String(value));
    case "bigint":
      // A program may have taught BigInt its toJSON.
      return hasToJson(Object(value) as object) ? undefined : fault("a BigInt");
    case "function":
    case "symbol":
      return fault(`a ${typeof value}`);
    default:
      return undefined;
  }
};

const OBJECT = "the arguments must be an object with a member for each argument";

export const refuseLoss = (args: unknown): void => {
  if (args === undefined || args === null || typeof args === "string") return;
  if (Array.isArray(args)) throw badRequest(`${OBJECT}, not a list`);
  if (typeof args !== "object") throw badRequest(`${OBJECT}, not a ${typeof args}`);
  if (!isPlain(args) && !hasToJson(args)) throw badRequest(`${OBJECT}, not ${article(nameOf(args))}`);
  let found: Fault | undefined;
  try {
    found = faultInside(args, "", MAX_JSON_DEPTH);
  } catch (cause) {
    if (isToolplaneError(cause)) throw cause;
    throw badRequest(`the arguments cannot be read: ${cause instanceof Error ? cause.message : "a member throws"}`);
  }
  if (found === undefined) return;
  throw badRequest(`the arguments are not JSON: ${found.what} at ${formatJsonPath(found.path.toReversed())}`);
};
