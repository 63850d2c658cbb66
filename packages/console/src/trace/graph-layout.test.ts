import { describe, expect, test } from "vitest";
import { findTurn, layoutGraph, MOST_LEAVES, turnsIn } from "./graph-layout.ts";
import type { TraceNode } from "./trace-body.ts";

const node = (kind: TraceNode["kind"], id: string, children: readonly TraceNode[] = []): TraceNode => ({
  kind,
  id,
  name: id,
  status: "success",
  error_code: null,
  started_at: null,
  ended_at: null,
  children,
});

const TREE = [
  node("turn", "t1", [
    node("step", "s1", [node("call", "c1"), node("call", "c2"), node("turn", "t2", [node("step", "s3", [])])]),
    node("step", "s2", []),
  ]),
];

describe("the graph", () => {
  test("children stand to the right of their parent, and no two boxes overlap", () => {
    const { nodes, edges, width, height } = layoutGraph(TREE);
    const places = new Map(nodes.map((drawn) => [drawn.node.id, drawn]));
    for (const { from, to } of edges) {
      const [parent, child] = [places.get(from), places.get(to)];
      expect((child?.x ?? 0) >= (parent?.x ?? 0) + (parent?.width ?? 0)).toBe(true);
    }
    for (const a of nodes)
      for (const b of nodes) {
        if (a === b || a.x !== b.x) continue;
        expect(Math.abs(a.y - b.y)).toBeGreaterThanOrEqual(34);
      }
    expect(edges).toHaveLength(nodes.length - 1);
    for (const drawn of nodes) {
      expect(drawn.x + drawn.width).toBeLessThanOrEqual(width);
      expect(drawn.y + 34).toBeLessThanOrEqual(height);
    }
  });

  test("steps are counted within their turn", () => {
    const { nodes } = layoutGraph(TREE);
    expect(nodes.filter(({ node }) => node.kind === "step").map(({ node, number }) => [node.id, number])).toEqual([
      ["s3", 1],
      ["s1", 1],
      ["s2", 2],
    ]);
  });

  test("a trace of thousands is cut, and what is left out is counted", () => {
    const many = Array.from({ length: 5_000 }, (_, at) => node("call", `c${at}`));
    const { nodes, left } = layoutGraph([node("turn", "t", [node("step", "s", many)])]);
    expect(nodes).toHaveLength(MOST_LEAVES + 2);
    expect(left).toBe(5_000 - MOST_LEAVES);
  });

  test("a turn is found wherever it is", () => {
    expect(findTurn(TREE, "t2")?.id).toBe("t2");
    expect(findTurn(TREE, "c1")).toBeUndefined();
    expect(TREE.flatMap(turnsIn)).toEqual(["t1", "t2"]);
  });
});
