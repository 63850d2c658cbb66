// The pairs of one run; the first is what the others are measured against.

import { bareEcho, hostAlone } from "./bare-pair.ts";
import { mcpSdk } from "./mcp-pair.ts";
import { ours } from "./our-pair.ts";
import type { PairKind } from "./pair.ts";

export const pairKinds: readonly PairKind[] = [bareEcho, hostAlone, ours, mcpSdk];
