// The fingerprint of a definition: a call is pinned to it, and it decides whether an upload changes anything. It covers
// everything that a caller, a model or the engine acts on, the description included: a tool with the same schema and another
// description is another tool.

import { canonicalText } from "../json/canonical-text.ts";
import type { ToolDefinition } from "./definition.ts";

/** SHA-256 of a text as lower-case hex; passed in, because this package runs where there is no node:crypto. */
export type HashText = (text: string) => string;

export const HASHED_FIELDS = [
  "tool_name",
  "description",
  "parameters",
  "options",
  "target_subject",
  "after_execution",
] as const satisfies readonly (keyof ToolDefinition)[];

/** The text that is hashed: canonical JSON of exactly the hashed fields; further keys of the object are ignored. */
export const definitionText = (definition: ToolDefinition): string =>
  canonicalText(Object.fromEntries(HASHED_FIELDS.map((field) => [field, definition[field]])));

export const definitionHash = (definition: ToolDefinition, sha256: HashText): string =>
  sha256(definitionText(definition));

/** Names of the fields that differ; empty when the hashes are equal. */
export const diffDefinitions = (before: ToolDefinition, after: ToolDefinition): readonly (keyof ToolDefinition)[] =>
  HASHED_FIELDS.filter((field) => canonicalText(before[field]) !== canonicalText(after[field]));
