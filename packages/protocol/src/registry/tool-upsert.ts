// What registering a definition does to the row that is there: nothing, a new version, or a refusal.
// The whole definition is replaced, never merged; a name belongs to the source that registered it first.

import { canonicalText } from "../json/canonical-text.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import { diffDefinitions } from "../tools/definition-hash.ts";

/** A definition with where it came from: a file, an import, a service. Undefined when a person uploaded it. */
export interface SourcedDefinition {
  readonly definition: ToolDefinition;
  readonly hash: string;
  readonly source?: string | undefined;
}

export interface StoredTool extends SourcedDefinition {
  readonly version: number;
}

export type ToolUpsertPlan =
  | { readonly outcome: "created"; readonly version: 1 }
  | { readonly outcome: "unchanged"; readonly version: number }
  | { readonly outcome: "replaced"; readonly version: number; readonly changed: readonly string[] }
  | { readonly outcome: "conflict"; readonly message: string };

/** The service a definition is for: the token after `cmd.tool`. */
const targetOf = (definition: ToolDefinition): string => definition.target_subject.split(".")[6] ?? "";

const findClash = (existing: StoredTool, incoming: SourcedDefinition): string | undefined => {
  const { tool_name: name } = incoming.definition;
  // A person may deliberately take over any name; a program that registers by itself may not.
  if (incoming.source === undefined) return undefined;
  if (existing.source !== undefined) {
    return existing.source === incoming.source
      ? undefined
      : `${name} is defined by ${existing.source} and by ${incoming.source}: choose another name in one of them`;
  }
  const [theirs, ours] = [targetOf(existing.definition), targetOf(incoming.definition)];
  return theirs === ours
    ? undefined
    : `${name} belongs to target ${theirs}; ${incoming.source} would move it to ${ours}`;
};

/** The fields that differ; of the options each one by its name: `options.rate`. */
const changedIn = (before: ToolDefinition, after: ToolDefinition): readonly string[] => {
  const [old, now] = [new Map(Object.entries(before.options)), new Map(Object.entries(after.options))];
  const options = [...new Set([...old.keys(), ...now.keys()])]
    .filter((name) => canonicalText(old.get(name) ?? null) !== canonicalText(now.get(name) ?? null))
    .map((name) => `options.${name}`)
    .sort();
  return diffDefinitions(before, after).flatMap((field) => (field === "options" ? options : [field]));
};

export const planToolUpsert = (existing: StoredTool | undefined, incoming: SourcedDefinition): ToolUpsertPlan => {
  if (existing === undefined) return { outcome: "created", version: 1 };
  const clash = findClash(existing, incoming);
  if (clash !== undefined) return { outcome: "conflict", message: clash };
  if (existing.hash === incoming.hash) return { outcome: "unchanged", version: existing.version };
  const changed = changedIn(existing.definition, incoming.definition);
  return { outcome: "replaced", version: existing.version + 1, changed };
};
