// What differs between two definitions, field by field, for a person who decides whether to accept one.

import { canonicalText } from "../json/canonical-text.ts";
import { isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";
import type { ToolDefinition } from "./definition.ts";
import { diffDefinitions } from "./definition-hash.ts";

export interface DefinitionChange {
  /** `description`, `options.approval`, `options.args.fixed.account`. */
  readonly field: string;
  /** Null where there was no value before, or is none now. */
  readonly from: JsonValue;
  readonly to: JsonValue;
}

/** Nested values: a person decides about a single value in them. */
const OPENED: ReadonlySet<string> = new Set([
  "parameters",
  "parameters.properties",
  "parameters.$defs",
  "options",
  "options.args",
  "options.args.fixed",
  "options.args.defaults",
  "options.envs",
  "options.openapi",
]);

const members = (value: JsonValue): JsonObject => (isRecord(value) ? (value as JsonObject) : {});

const changesAt = (field: string, from: JsonValue, to: JsonValue): readonly DefinitionChange[] => {
  if (canonicalText(from) === canonicalText(to)) return [];
  if (!OPENED.has(field)) return [{ field, from, to }];
  const [before, after] = [members(from), members(to)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const valueIn = (values: JsonObject, name: string): JsonValue =>
    Object.hasOwn(values, name) ? (values[name] ?? null) : null;
  return names.flatMap((name) => changesAt(`${field}.${name}`, valueIn(before, name), valueIn(after, name)));
};

export const definitionChanges = (before: ToolDefinition, after: ToolDefinition): readonly DefinitionChange[] =>
  diffDefinitions(before, after).flatMap((field) =>
    changesAt(field, before[field] as JsonValue, after[field] as JsonValue),
  );
