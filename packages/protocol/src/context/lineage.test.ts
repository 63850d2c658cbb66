import { describe, expect, test } from "vitest";
import { createContext } from "./context.ts";
import { lineageMeta, withLineageMeta } from "./lineage.ts";

const bare = createContext({ projectId: "demo", agentId: "helper" });
const full = createContext({ projectId: "demo", agentId: "helper", stepId: "s", traceId: "t", parentStepId: "p" });

describe("lineage", () => {
  test("[UTP-3-11] is what is set; the step can be left out", () => {
    expect(lineageMeta(full)).toEqual({ step_id: "s", trace_id: "t", parent_step_id: "p" });
    expect(lineageMeta(bare)).toEqual({});
  });

  test("[UTP-3-8] is taken from a card's metadata when not empty", () => {
    expect(
      withLineageMeta(full, { step_id: "s2", trace_id: "", parent_step_id: null, agent_id: "evil" }),
    ).toMatchObject({
      stepId: "s2",
      traceId: "t",
      parentStepId: "p",
      agentId: "helper",
    });
    expect(withLineageMeta(bare, lineageMeta(full))).toMatchObject({ stepId: "s", traceId: "t", parentStepId: "p" });
    expect(withLineageMeta(full, null)).toBe(full);
    expect(withLineageMeta(full, { step_id: 7 })).toEqual(full);
    expect(withLineageMeta(full, Object.create({ step_id: "inherited" }) as Record<string, unknown>)).toEqual(full);
  });
});
