// What a crash run asks for: items of a kind, in an order and under names that are the same in every process and after
// every restart.

import { ATTIC_PROJECT, CRASH_PROJECT } from "./crash-seed.ts";
import type { JournalLine } from "./journal.ts";

const CALL_KINDS = [
  "safe",
  "unsafe",
  "keyed",
  "card",
  "beat",
  "shy",
  "vanish",
  "cancel",
  "timeout",
  "silent",
  "gated",
  "allowed",
  "denied",
  "attic",
] as const;
export type CallKind = (typeof CALL_KINDS)[number];
export type ItemKind = CallKind | "step" | "event" | "command";

export type ItemCounts = Readonly<Partial<Record<ItemKind, number>>>;

/** One process's part of the items. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

export interface Item {
  readonly id: string;
  readonly kind: ItemKind;
  readonly number: number;
}

/** How the simulated tool behaves; travels in the call's arguments. */
export type Way = "finish" | "beat" | "card" | "shy" | "vanish" | "hang";

export interface CallShape {
  readonly toolName: string;
  readonly way: Way;
  readonly outcomes: readonly string[];
}

const LOST = "failed/outcome_unknown";

/** By kind: which tool, how it behaves, and how such a call may end when processes die around it. */
export const CALL_SHAPES: Readonly<Record<CallKind, CallShape>> = {
  safe: { toolName: "safe", way: "finish", outcomes: ["success", "failed/upstream_unavailable"] },
  unsafe: { toolName: "unsafe", way: "finish", outcomes: ["success", LOST] },
  keyed: { toolName: "unsafe", way: "finish", outcomes: ["success", LOST] },
  card: { toolName: "unsafe", way: "card", outcomes: ["success", LOST] },
  beat: { toolName: "safe", way: "beat", outcomes: ["success", "failed/upstream_unavailable"] },
  shy: { toolName: "unsafe", way: "shy", outcomes: ["success", LOST] },
  vanish: { toolName: "safe", way: "vanish", outcomes: ["success", "failed/upstream_unavailable"] },
  cancel: { toolName: "cancelable", way: "hang", outcomes: ["canceled/canceled", "timeout/tool_timeout", LOST] },
  timeout: { toolName: "hasty", way: "hang", outcomes: ["timeout/tool_timeout"] },
  silent: { toolName: "silent", way: "finish", outcomes: ["timeout/queue_timeout"] },
  gated: { toolName: "gated", way: "finish", outcomes: ["failed/approval_expired"] },
  allowed: { toolName: "asked", way: "finish", outcomes: ["success", "failed/upstream_unavailable"] },
  denied: { toolName: "asked", way: "finish", outcomes: ["failed/approval_denied"] },
  attic: { toolName: "safe", way: "finish", outcomes: ["success", "failed/upstream_unavailable"] },
};

/** Kinds whose callers choose the call's id, so that they can ask again when they were not answered. */
export const NAMED_KINDS: ReadonlySet<CallKind> = new Set([
  "safe",
  "unsafe",
  "card",
  "cancel",
  "timeout",
  "allowed",
  "denied",
]);

/** The calls of every agent's step: one that runs again, one that does not, one that never comes back. */
export const STEP_KINDS: readonly CallKind[] = ["safe", "unsafe", "timeout"];

export const projectOf = (kind: CallKind): string => (kind === "attic" ? ATTIC_PROJECT : CRASH_PROJECT);

/** The engine acknowledged a call of this kind. */
export const acceptedLine = (item: string, kind: CallKind, call: string): JournalLine => {
  const { outcomes } = CALL_SHAPES[kind];
  return { what: "accepted", item, project: projectOf(kind), call, outcomes };
};

/** Kinds take turns, so that every stretch of the run has some of each. */
export const planItems = (counts: ItemCounts, shard: Shard): readonly Item[] => {
  const kinds = Object.entries(counts) as [ItemKind, number][];
  const most = Math.max(0, ...kinds.map(([, count]) => count));
  const all = Array.from({ length: most }, (_, number) =>
    kinds.filter(([, count]) => number < count).map(([kind]): Item => ({ id: `${kind}-${number}`, kind, number })),
  ).flat();
  return all.filter((item) => item.number % shard.of === shard.index);
};
