// The limits of a definition: as its tool's row carries them for dispatch and claims, and as a person changes them. Pure.

import type { ToolOptions } from "@toolplane/protocol";

/** As JSON; null when it has none, so that nothing has to be read for it. */
export const limitsOf = ({ concurrency, rate, breaker }: ToolOptions): string | null =>
  concurrency === undefined && rate === undefined && breaker === undefined
    ? null
    : JSON.stringify({ concurrency, rate, breaker });

type LimitKey = "concurrency" | "rate" | "breaker" | "retry_policy";

/** Limits that change: null takes one away. */
export type ToolLimits = { readonly [Key in LimitKey]?: ToolOptions[Key] | null };

export const withLimits = (options: ToolOptions, limits: ToolLimits): ToolOptions =>
  Object.fromEntries(Object.entries({ ...options, ...limits }).filter(([, value]) => value != null));
