// Depth: how far a piece of work is from the person who asked. It is computed here and never taken from a header (I9).

import { ToolplaneError } from "../errors/toolplane-error.ts";

/** `descend`: one deeper than the caller; `peer`: the same; `root`: a new chain that begins at 0. */
const DEPTH_POLICIES = ["descend", "peer", "root"] as const;
export type DepthPolicy = (typeof DEPTH_POLICIES)[number];

/** Agents that delegate without end stop here; honest chains are a handful deep. */
export const DEFAULT_MAX_RECURSION_DEPTH = 20;

export const planDepth = (depth: number, policy: DepthPolicy): number => {
  switch (policy) {
    case "descend":
      return depth + 1;
    case "peer":
      return depth;
    case "root":
      return 0;
  }
};

export const checkDepth = (depth: number, limit: number = DEFAULT_MAX_RECURSION_DEPTH): void => {
  if (depth >= limit) {
    throw new ToolplaneError("recursion_depth_exceeded", `recursion depth ${depth} reaches the limit of ${limit}`, {
      detail: { depth, limit },
    });
  }
};
