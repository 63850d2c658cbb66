// Turns any JavaScript value into a fresh JSON tree, or says exactly where it is not JSON.
//
// JC1. The outcome is plain data with sorted keys: no undefined, no prototype but Object's, nothing shared with the input.
// JC2. Nothing is silently lost. NUL, lone surrogates, NaN, Infinity, BigInt, functions, symbols, holes and undefined in arrays,
//     Map, Set, Promise, Error, typed arrays, cycles and trees deeper than the cap are refused with their path.
//     Kept as JSON.stringify keeps them: undefined properties are left out, -0 is 0, `toJSON` speaks for its object (Date).
// JC3. A key named `__proto__` is dropped: copied by assignment it would replace a prototype. `constructor` is plain data. A caller may have it refused
//     at places where the keys are a closed set.
// JC4. Work is bounded by the byte cap even when the input shares subtrees (a small graph can be an enormous tree).

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { formatJsonPath, type JsonPathSegment } from "./json-path.ts";
import { exceedsBytes, type JsonCaps, type JsonValue, MAX_JSON_BYTES, MAX_JSON_DEPTH } from "./json-value.ts";
import { textFault } from "./storable-text.ts";

/** Below this many keys insertion sort beats Array.sort (measured: 0.9 against 2.7 microseconds for 20 objects of 5 keys). */
const SMALL_KEY_COUNT = 24;

export interface CopyCaps extends JsonCaps {
  /** Whether `__proto__` is dropped in the object at this place; elsewhere it is refused. Without it, it is dropped everywhere. */
  readonly dropsProto?: ((path: readonly JsonPathSegment[]) => boolean) | undefined;
}

export interface CopyState {
  readonly dropsProto: CopyCaps["dropsProto"];
  readonly maxDepth: number;
  readonly maxBytes: number;
  /** Off when the caller checks the finished text instead, which is cheaper than checking every string. */
  readonly checkStrings: boolean;
  readonly path: JsonPathSegment[];
  readonly parents: object[];
  /** A lower bound of the text's length so far. */
  size: number;
  /** An all-digit key was seen: objects list those first, so key order needs another way of writing. */
  digitKeys: boolean;
}

export const createCopyState = (caps: CopyCaps, checkStrings: boolean): CopyState => ({
  dropsProto: caps.dropsProto,
  maxDepth: caps.maxDepth ?? MAX_JSON_DEPTH,
  maxBytes: caps.maxBytes ?? MAX_JSON_BYTES,
  checkStrings,
  path: [],
  parents: [],
  size: 0,
  digitKeys: false,
});

export const tooLarge = (maxBytes: number): ToolplaneError =>
  new ToolplaneError("result_too_large", `the value is larger than ${maxBytes} bytes of JSON`, {
    detail: { max_bytes: maxBytes },
  });

const refuse = (state: CopyState, key: JsonPathSegment | undefined, reason: string): ToolplaneError => {
  const path = formatJsonPath(key === undefined ? state.path : [...state.path, key]);
  return new ToolplaneError("result_not_serializable", `${reason} at ${path}`, { detail: { path, reason } });
};

export const sortKeys = (keys: string[]): string[] => {
  if (keys.length > SMALL_KEY_COUNT) return keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string;
    let j = i - 1;
    for (; j >= 0 && (keys[j] as string) > key; j--) keys[j + 1] = keys[j] as string;
    keys[j + 1] = key;
  }
  return keys;
};

const isAllDigits = (key: string): boolean => {
  for (let i = 0; i < key.length; i++) {
    const c = key.charCodeAt(i);
    if (c < 48 || c > 57) return false;
  }
  return key !== "";
};

const scalarFault = (value: unknown): string => {
  if (typeof value === "number") return `${value}`;
  return value === undefined ? "undefined" : `a ${typeof value}`;
};

/** Class instances are read by their own properties; objects whose content is elsewhere (a Map's, a Promise's) are not. */
const objectFault = (value: object): string | undefined => {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return undefined;
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  return tag === "Object" ? undefined : `a ${tag}`;
};

const copyObject = (value: object, depth: number, state: CopyState): JsonValue => {
  const fault = objectFault(value);
  if (fault !== undefined) throw refuse(state, undefined, fault);
  const source = value as Record<string, unknown>;
  const target: Record<string, JsonValue> = {};
  for (const key of sortKeys(Object.keys(source))) {
    const item = source[key];
    if (key === "__proto__" && state.dropsProto?.(state.path) === false)
      throw refuse(state, undefined, 'unknown key "__proto__"');
    if (item === undefined || key === "__proto__") continue;
    if (state.checkStrings && textFault(key) !== undefined) throw refuse(state, key, `${textFault(key)} in a key`);
    const first = key.charCodeAt(0);
    if (first >= 48 && first <= 57 && isAllDigits(key)) state.digitKeys = true;
    state.size += key.length + 3;
    const copied = copyAt(item, key, depth, state);
    if (copied !== undefined) target[key] = copied;
  }
  return target;
};

const copyArray = (value: readonly unknown[], depth: number, state: CopyState): JsonValue => {
  const target: JsonValue[] = [];
  for (let i = 0; i < value.length; i++) {
    const copied = copyAt(value[i], i, depth, state);
    if (copied === undefined) throw refuse(state, i, "undefined in an array");
    target.push(copied);
  }
  return target;
};

const copyContainer = (value: object, key: JsonPathSegment | undefined, depth: number, state: CopyState): JsonValue => {
  if (depth >= state.maxDepth) {
    const reason = state.parents.includes(value) ? "a cycle" : `more than ${state.maxDepth} levels of nesting`;
    throw refuse(state, key, reason);
  }
  if (key !== undefined) state.path.push(key);
  state.parents.push(value);
  const copied = Array.isArray(value) ? copyArray(value, depth + 1, state) : copyObject(value, depth + 1, state);
  state.parents.pop();
  if (key !== undefined) state.path.pop();
  return copied;
};

const copyScalar = (value: unknown, key: JsonPathSegment | undefined, state: CopyState): JsonValue | undefined => {
  if (typeof value === "string") {
    // Checked before the text is read, so that a text that cannot fit is not read to its end.
    state.size += value.length + 2;
    if (state.size > state.maxBytes) throw tooLarge(state.maxBytes);
    const fault = state.checkStrings ? textFault(value) : undefined;
    if (fault !== undefined) throw refuse(state, key, fault);
    return value;
  }
  if (typeof value === "boolean" || value === null || value === undefined) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
  throw refuse(state, key, scalarFault(value));
};

const speaksForItself = (value: object): value is { toJSON: (key: string) => unknown } =>
  typeof (value as { toJSON?: unknown }).toJSON === "function";

const copyAt = (
  value: unknown,
  key: JsonPathSegment | undefined,
  depth: number,
  state: CopyState,
): JsonValue | undefined => {
  state.size += 1;
  if (state.size > state.maxBytes) throw tooLarge(state.maxBytes);
  if (typeof value !== "object" || value === null) return copyScalar(value, key, state);
  if (!speaksForItself(value)) return copyContainer(value, key, depth, state);
  const said = value.toJSON(key === undefined ? "" : String(key));
  return typeof said === "object" && said !== null
    ? copyContainer(said, key, depth, state)
    : copyScalar(said, key, state);
};

/** The walk itself; an exception of foreign code (getters, proxies, toJSON) counts as a refusal. */
export const runCopy = (value: unknown, state: CopyState): JsonValue => {
  try {
    const copied = copyAt(value, undefined, 0, state);
    if (copied === undefined) throw refuse(state, undefined, "undefined");
    return copied;
  } catch (error) {
    if (error instanceof ToolplaneError) throw error;
    throw new ToolplaneError("result_not_serializable", `reading the value failed at ${formatJsonPath(state.path)}`, {
      detail: { path: formatJsonPath(state.path), reason: "reading the value failed" },
      cause: error,
    });
  }
};

/** One unit of `size` is at most this many bytes of text: a number has up to 24 characters and a comma. */
const MAX_BYTES_PER_UNIT = 25;

/** A fresh JSON tree equal to the value, or `result_not_serializable` / `result_too_large`. */
export const copyJson = (value: unknown, caps: CopyCaps = {}): JsonValue => {
  const state = createCopyState(caps, true);
  const copy = runCopy(value, state);
  // Only a value that may be too large is written out to measure it; a copy that does not fit would leave its call unsettled.
  if (state.size * MAX_BYTES_PER_UNIT > state.maxBytes && exceedsBytes(JSON.stringify(copy), state.maxBytes)) {
    throw tooLarge(state.maxBytes);
  }
  return copy;
};
