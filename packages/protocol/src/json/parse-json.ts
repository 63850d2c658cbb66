// Reads JSON text from outside.
// PN1. Only ToolplaneError comes out: `payload_too_large` for the size cap, `bad_request` for everything else.
// PN2. Of duplicate keys the last wins (as JSON.parse does), unless the reader asks for them to be refused; a key named
//     `__proto__` is dropped at every level, however it was escaped; `constructor` and `prototype` are ordinary own properties.
//     No prototype is ever touched. A reader that asks for exact reading refuses it instead.
// PN3. Error texts give a position, never a piece of the input: it may hold a secret (I8).
// PN4. What would take too long to read (json-work.ts) is `payload_too_large`, before anything is built of it.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { exceedsBytes, type JsonCaps, type JsonValue, MAX_JSON_BYTES, MAX_JSON_DEPTH } from "./json-value.ts";
import { type JsonExcess, MAX_JSON_SHAPES, MAX_JSON_VALUES, namesTwice, weighJson } from "./json-work.ts";

/**
 * A `__proto__` key must be spelled out or have one of its letters as an escape, so most texts need no search at all. A
 * pattern, because looking for a text that begins with a backslash takes ten times as long where all is backslashes.
 */
const mayNameProto = (text: string): boolean => text.includes("__proto__") || /\\u00[567]/.test(text);

const tooDeep = (maxDepth: number): ToolplaneError =>
  new ToolplaneError("bad_request", `the JSON is nested deeper than ${maxDepth} levels`, {
    detail: { max_depth: maxDepth },
  });

/** JSON.parse reads 1e999 as Infinity, which no JSON text can say back. */
const overflow = (): ToolplaneError => new ToolplaneError("bad_request", "the JSON has a number that is out of range");

/**
 * Checks depth and removes `__proto__` in place; the tree is ours alone, JSON.parse has just made it. Gives the number of
 * members in it, before removing.
 */
const settleTree = (value: unknown, levelsLeft: number, dropProto: boolean, maxDepth: number): number => {
  if (typeof value === "number" && !Number.isFinite(value)) throw overflow();
  if (typeof value !== "object" || value === null) return 0;
  if (levelsLeft === 0) throw tooDeep(maxDepth);
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += settleTree(item, levelsLeft - 1, dropProto, maxDepth);
    return members;
  }
  if (dropProto && Object.hasOwn(value, "__proto__")) {
    members += 1 + settleTree(value["__proto__" as keyof object], levelsLeft - 1, dropProto, maxDepth);
    Reflect.deleteProperty(value, "__proto__");
  }
  for (const key in value)
    members += 1 + settleTree((value as Record<string, unknown>)[key], levelsLeft - 1, dropProto, maxDepth);
  return members;
};

/** Longer texts are weighed in steps: this much takes some ten milliseconds. */
const WEIGHED_AT_ONCE = 1024 * 1024;

const AT = "in JSON at position ";

/** Some messages of JSON.parse end with a position and quote nothing; the others quote the input and are not shown. */
const positionOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : "";
  const start = message.lastIndexOf(AT);
  if (start < 0 || message.endsWith("is not valid JSON")) return "";
  const position = Number.parseInt(message.slice(start + AT.length), 10);
  return Number.isSafeInteger(position) ? ` (position ${position})` : "";
};

const notJson = (error: unknown): ToolplaneError =>
  new ToolplaneError("bad_request", `the text is not valid JSON${positionOf(error)}`);

const tooMuch = (excess: JsonExcess): ToolplaneError =>
  excess === "values"
    ? new ToolplaneError("payload_too_large", `the JSON holds more than ${MAX_JSON_VALUES} values: send less at once`, {
        detail: { max_values: MAX_JSON_VALUES },
      })
    : new ToolplaneError(
        "payload_too_large",
        `the JSON holds more than ${MAX_JSON_SHAPES} members that differ in name: send a list of rows with the same members instead`,
        { detail: { max_shapes: MAX_JSON_SHAPES } },
      );

/** Why a JSON text would take too long to read; undefined when it would not. */
export const findExcess = (text: string): ToolplaneError | undefined => {
  const scale = weighJson(text);
  while (scale?.goOn(WEIGHED_AT_ONCE) === true);
  return scale?.excess === undefined ? undefined : tooMuch(scale.excess);
};

const twice = (): ToolplaneError =>
  new ToolplaneError("bad_request", "the JSON names a member of an object twice: send it once");

export interface JsonReading extends JsonCaps {
  /** Refuses an object that names a member twice: two readers of such a text may see different values. */
  readonly namesOnce?: boolean;
  /** A further look at the value, before keys named `__proto__` are dropped and numbers beyond all range refused; may change it in place. */
  readonly settle?: ((value: JsonValue, maxDepth: number) => JsonValue) | undefined;
  /** A further check of the text, which is valid JSON then; throws its refusal. */
  readonly refuse?: ((text: string) => void) | undefined;
}

/** The steps of reading, in order; other work may run between two of them. Returns the tree. */
export function* readJson(
  text: string,
  caps: JsonReading,
  atOnce: number = WEIGHED_AT_ONCE,
): Generator<undefined, JsonValue, undefined> {
  const maxDepth = caps.maxDepth ?? MAX_JSON_DEPTH;
  const maxBytes = caps.maxBytes ?? MAX_JSON_BYTES;
  if (exceedsBytes(text, maxBytes)) {
    throw new ToolplaneError("payload_too_large", `the JSON is larger than ${maxBytes} bytes`, {
      detail: { max_bytes: maxBytes },
    });
  }
  const scale = weighJson(text);
  while (scale?.goOn(atOnce) === true) yield;
  if (scale?.excess !== undefined) throw tooMuch(scale.excess);
  yield;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw notJson(error);
  }
  yield;
  value = caps.settle?.(value, maxDepth) ?? value;
  const members = settleTree(value, maxDepth, mayNameProto(text), maxDepth);
  yield;
  if (caps.namesOnce === true && namesTwice(text, members)) throw twice();
  caps.refuse?.(text);
  return value;
}

export const parseJsonStrict = (text: string, caps: JsonReading = {}): JsonValue => {
  const reading = readJson(text, caps, Number.POSITIVE_INFINITY);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  return step.value;
};

/** The same for a long text: `breathe` lets other work run between two steps, and before the value is used. */
export const parseJsonInTurns = async (
  text: string,
  breathe: () => Promise<unknown>,
  caps: JsonReading = {},
): Promise<JsonValue> => {
  const reading = readJson(text, caps);
  let step = reading.next();
  while (step.done !== true) {
    await breathe();
    step = reading.next();
  }
  return step.value;
};

/** The same for text that may be anything: undefined when it is not acceptable JSON. */
export const tryParseJsonStrict = (text: string, caps: JsonCaps = {}): JsonValue | undefined => {
  try {
    return parseJsonStrict(text, caps);
  } catch {
    return undefined;
  }
};
