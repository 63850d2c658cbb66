import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { egress } from "../headers/egress.ts";
import { ingress } from "../headers/ingress.ts";
import { parseSubject } from "../subjects/subject.ts";
import { type CGContext, createContext, evolveContext } from "./context.ts";
import { checkDepth, DEFAULT_MAX_RECURSION_DEPTH, type DepthPolicy, planDepth } from "./spawn.ts";
import { withNormalizedTransport, withTraceTransport } from "./transport-evolve.ts";

const ids = { traceId: () => "1".repeat(32), spanId: () => "2".repeat(16) };
const lineage = createContext({
  projectId: "demo",
  channelId: "u_1",
  agentId: "boss",
  agentTurnId: "turn_1",
  turnEpoch: 3,
  recursionDepth: 2,
  stepId: "step_1",
  toolCallId: "tc_1",
  parentAgentId: "grand",
  parentAgentTurnId: "turn_0",
  parentStepId: "step_0",
  headers: { "CG-Recursion-Depth": "2" },
});

describe("depth", () => {
  const policies: readonly (readonly [DepthPolicy, string])[] = [
    ["descend", "3"],
    ["peer", "2"],
    ["root", "0"],
  ];
  test.each(policies)(
    "[UTP-W01] [UTP-2.7-3] %s writes depth %s into the outgoing headers, over the inherited one",
    (policy, depth) => {
      const child = evolveContext(lineage, { recursionDepth: planDepth(lineage.recursionDepth, policy) });
      expect(child.headers["CG-Recursion-Depth"]).toBe(depth);
      expect(egress(child, ids, "topology")["CG-Recursion-Depth"]).toBe(depth);
    },
  );
});

describe("the limit", () => {
  test("[UTP-2.7-1] is 20, and reaching it is refused", () => {
    expect(DEFAULT_MAX_RECURSION_DEPTH).toBe(20);
    expect(() => checkDepth(19)).not.toThrow();
    const exceeded = expect.objectContaining({ code: "recursion_depth_exceeded", detail: { depth: 20, limit: 20 } });
    expect(() => checkDepth(20)).toThrow(exceeded);
    expect(() => checkDepth(21)).toThrow(expect.objectContaining({ code: "recursion_depth_exceeded" }));
    expect(() => checkDepth(3, 3)).toThrow(expect.objectContaining({ code: "recursion_depth_exceeded" }));
  });
});

/** Headers as a stranger might send them: any depth, under any spelling, beside other things. */
const hostileHeaders = fc.dictionary(
  fc.constantFrom("CG-Recursion-Depth", "cg-recursion-depth", "CG-RECURSION-DEPTH", "CG-Parent-Step-Id", "x"),
  fc.oneof(fc.nat({ max: 1000 }).map(String), fc.constantFrom("0", "00")),
);

const acrossTheWire = (child: CGContext): CGContext => {
  const subject = parseSubject(`cg.v1r4.${child.projectId}.${child.channelId}.cmd.sys.ui.action`);
  return ingress({ subject, headers: egress(child, ids, "topology"), payload: {} }, ids).context;
};

test("[INV-I9] descend strictly grows the depth, whatever headers say", () => {
  const start = fc.tuple(fc.nat({ max: 50 }), hostileHeaders, fc.array(hostileHeaders, { minLength: 1, maxLength: 5 }));
  fc.assert(
    fc.property(start, ([recursionDepth, inherited, hops]) => {
      let context = createContext({ projectId: "demo", agentId: "a0", recursionDepth, headers: inherited });
      for (const [hop, headers] of hops.entries()) {
        const before = context.recursionDepth;
        const noisy = withTraceTransport(
          withNormalizedTransport(context, headers, ids),
          { baseHeaders: { ...headers } },
          ids,
        );
        const recursionDepth = planDepth(noisy.recursionDepth, "descend");
        context = acrossTheWire(evolveContext(noisy, { agentId: `a${hop}`, recursionDepth }));
        expect(context.recursionDepth).toBe(before + 1);
      }
      expect(context.recursionDepth).toBe(recursionDepth + hops.length);
    }),
    { numRuns: 500 },
  );
});

test("[UTP-2.7-2] planned depths: descend is more, peer is equal, root is zero", () => {
  fc.assert(
    fc.property(fc.nat({ max: 1000 }), (depth) => {
      expect(planDepth(depth, "descend")).toBeGreaterThan(depth);
      expect(planDepth(depth, "peer")).toBe(depth);
      expect(planDepth(depth, "root")).toBe(0);
    }),
  );
});
