// Makes certain that what plugin code returns is JSON: JSON.stringify alone would silently drop a function and write NaN as null.
// Almost every value is plain already, so one walk without a copy decides. Other values take the thorough way, which converts
// Dates and the like or names the path of what cannot be converted. It is slower, so its size limit is lower.

import {
  copyJson,
  isRecord,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  ToolplaneError,
} from "@toolplane/protocol";
import { FAULT_TYPES, HostFault } from "./host-fault.ts";

/** One line of this length already takes a text of as much memory; a small graph can be an enormous tree. */
const MAX_VALUE_BYTES = 128 * 1024 * 1024;

interface Walk {
  /** A lower bound of the bytes that may still come. */
  left: number;
}

/** What a value costs at least, with the comma after it. */
const NODE_BYTES = 2;

const tooLarge = (what: string): HostFault =>
  new HostFault(FAULT_TYPES.notJson, `${what} cannot be sent: it is larger than ${MAX_VALUE_BYTES} bytes of JSON`);

const isPlainObject = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const isPlainTree = (value: object, levels: number, walk: Walk): boolean => {
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isPlain(value[index], levels - 1, walk)) return false;
    return true;
  }
  if (!isPlainObject(value)) return false;
  const source = value as Record<string, unknown>;
  if (typeof source.toJSON === "function") return false;
  for (const key in source) {
    walk.left -= key.length;
    if (source[key] !== undefined && !isPlain(source[key], levels - 1, walk)) return false;
  }
  return true;
};

const isPlain = (value: unknown, levels: number, walk: Walk): boolean => {
  walk.left -= NODE_BYTES;
  if (walk.left < 0) return false;
  switch (typeof value) {
    case "string":
      walk.left -= value.length;
      return true;
    case "number":
      return Number.isFinite(value);
    case "boolean":
      return true;
    case "object":
      return value === null || isPlainTree(value, levels, walk);
    default:
      return false;
  }
};

const explain = (error: unknown, what: string): HostFault => {
  const why = error instanceof ToolplaneError ? error.message : "reading it failed";
  return new HostFault(FAULT_TYPES.notJson, `${what} cannot be sent: ${why}`);
};

/** The value as it can be written, or a fault that names the path. */
export const toJson = (value: unknown, what: string): JsonValue => {
  const walk: Walk = { left: MAX_VALUE_BYTES };
  try {
    if (isPlain(value, MAX_JSON_DEPTH, walk)) return value as JsonValue;
  } catch {
    // A getter threw: the thorough way names its path.
  }
  if (walk.left < 0) throw tooLarge(what);
  try {
    return copyJson(value);
  } catch (error) {
    throw explain(error, what);
  }
};

export const toJsonObject = (value: unknown, what: string): JsonObject => {
  const json = toJson(value, what);
  if (!isRecord(json)) throw new HostFault(FAULT_TYPES.result, `${what} must be an object`);
  return json as JsonObject;
};
