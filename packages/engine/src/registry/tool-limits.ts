// The limits of a definition, as its tool's row carries them for dispatch and claims. Pure.

import type { ToolOptions } from "@toolplane/protocol";

/** As JSON; null when it has none, so that nothing has to be read for it. */
export const limitsOf = ({ concurrency, rate, breaker, service }: ToolOptions): string | null =>
  service === "plain" || (concurrency === undefined && rate === undefined && breaker === undefined)
    ? null
    : JSON.stringify({ concurrency, rate, breaker });
