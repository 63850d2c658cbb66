// A tree of turns, steps and calls as a drawing: columns by depth, a row for each leaf, parents in the middle of their children.
// It is bounded: a trace of thousands shows its beginning and says so. Pure.

import type { TraceNode } from "./trace-body.ts";

const NODE_WIDTH = 168;
export const NODE_HEIGHT = 34;
const STEP_WIDTH = 56;
const COLUMN_GAP = 36;
const ROW_PX = 46;
/** Rows of one drawing; what comes after them is counted. */
export const MOST_LEAVES = 300;

export interface DrawnNode {
  readonly node: TraceNode;
  /** Of a step: which one of its turn. */
  readonly number: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly path: string;
}

export interface Graph {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  readonly width: number;
  readonly height: number;
  readonly left: number;
}

/** A curve from the right side of one box to the left side of the next. */
const curve = (x1: number, y1: number, x2: number, y2: number): string => {
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
};

export const layoutGraph = (roots: readonly TraceNode[]): Graph => {
  const nodes: DrawnNode[] = [];
  const edges: DrawnEdge[] = [];
  let row = 0;
  let left = 0;
  let width = 0;

  const widthOf = ({ kind }: TraceNode): number => (kind === "step" ? STEP_WIDTH : NODE_WIDTH);

  const place = (node: TraceNode, x: number, number: number): DrawnNode => {
    const own = widthOf(node);
    let steps = 0;
    const children: DrawnNode[] = [];
    for (const child of node.children) {
      if (row >= MOST_LEAVES) {
        left += 1;
        continue;
      }
      if (child.kind === "step") steps += 1;
      children.push(place(child, x + own + COLUMN_GAP, child.kind === "step" ? steps : 0));
    }
    const first = children[0];
    const last = children.at(-1);
    const y = first === undefined || last === undefined ? row++ * ROW_PX : (first.y + last.y) / 2;
    const drawn = { node, number, x, y, width: own };
    nodes.push(drawn);
    width = Math.max(width, x + own);
    for (const child of children) {
      const path = curve(x + own, y + NODE_HEIGHT / 2, child.x, child.y + NODE_HEIGHT / 2);
      edges.push({ from: node.id, to: child.node.id, path });
    }
    return drawn;
  };

  for (const root of roots) {
    if (row >= MOST_LEAVES) left += 1;
    else place(root, 0, 0);
  }
  return { nodes, edges, width, height: Math.max(row * ROW_PX - (ROW_PX - NODE_HEIGHT), NODE_HEIGHT), left };
};

/** The part of a tree that came of one turn. */
export const findTurn = (roots: readonly TraceNode[], id: string): TraceNode | undefined => {
  const waiting = [...roots];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.kind === "turn" && node.id === id) return node;
    waiting.push(...node.children);
  }
  return undefined;
};

/** The ids of a turn and of all turns below it. */
export const turnsIn = (root: TraceNode): readonly string[] => [
  ...(root.kind === "turn" ? [root.id] : []),
  ...root.children.flatMap(turnsIn),
];
