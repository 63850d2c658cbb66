// Where a card comes from: the step, the trace and the parent step. A result copies these from its call, verbatim; they are
// never filled in from a payload.

import type { JsonObject, JsonValue } from "../json/json-value.ts";

export const LINEAGE_KEYS = ["step_id", "trace_id", "parent_step_id"] as const;
export type LineageKey = (typeof LINEAGE_KEYS)[number];
export type Lineage = { readonly [K in LineageKey]?: JsonValue };

/** The lineage keys that are present, with exactly the values they have. */
export const copyLineage = (metadata: JsonObject | undefined): Lineage => {
  const lineage: Partial<Record<LineageKey, JsonValue>> = {};
  if (metadata === undefined) return lineage;
  for (const key of LINEAGE_KEYS) {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    if (value !== undefined) lineage[key] = value;
  }
  return lineage;
};

/** The first lineage key in which two cards differ; an absent key equals null. */
export const lineageDifference = (left: JsonObject, right: Lineage): LineageKey | undefined =>
  LINEAGE_KEYS.find((key) => (left[key] ?? null) !== (right[key] ?? null));
