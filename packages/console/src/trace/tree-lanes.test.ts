import { expect, test } from "vitest";
import type { TraceNode } from "./trace-body.ts";
import { planTreeLanes } from "./tree-lanes.ts";

const node = (
  kind: TraceNode["kind"],
  id: string,
  started: string | null,
  children: readonly TraceNode[] = [],
): TraceNode => ({
  kind,
  id,
  name: id,
  status: "success",
  error_code: null,
  started_at: started,
  ended_at: null,
  children,
});

test("the calls and turns below a turn, without its steps, itself and what did not begin", () => {
  const at = "2026-11-16T10:00:00Z";
  const inner = node("turn", "t2", at, [node("step", "s2", at, [node("call", "c2", at), node("call", "c3", null)])]);
  const root = node("turn", "t1", at, [node("step", "s1", at, [node("call", "c1", at), inner])]);
  const lanes = planTreeLanes(root, ({ id }) => `name of ${id}`);
  expect(lanes.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "call name of c1",
    "turn name of t2",
    "call name of c2",
  ]);
  expect(lanes[0]).toMatchObject({ fromMs: Date.parse(at), toMs: undefined });
});
