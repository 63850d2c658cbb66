// What ran when, below one turn: its calls, and the calls and turns that came of them, for the lanes of a time axis. Pure.

import type { Laned } from "../turn/lanes.ts";
import type { TraceNode } from "./trace-body.ts";

export interface TreeLane extends Laned {
  readonly kind: "turn" | "call";
}

/** More bars cannot be told apart. */
const MOST = 200;

export const planTreeLanes = (root: TraceNode, nameOf: (node: TraceNode) => string): readonly TreeLane[] => {
  const lanes: TreeLane[] = [];
  const visit = (node: TraceNode): void => {
    if (lanes.length >= MOST) return;
    if (node.kind !== "step" && node !== root && node.started_at !== null)
      lanes.push({
        id: node.id,
        kind: node.kind,
        name: nameOf(node),
        status: node.status,
        fromMs: Date.parse(node.started_at),
        toMs: node.ended_at === null ? undefined : Date.parse(node.ended_at),
      });
    node.children.forEach(visit);
  };
  visit(root);
  return lanes;
};
