import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CGContext, createContext, evolveContext } from "../context/context.ts";
import { parseSubject } from "../subjects/subject.ts";
import { egress } from "./egress.ts";
import { HEADERS, STAMP_HEADERS } from "./header-names.ts";
import { ingress } from "./ingress.ts";
import { replay } from "./replay.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const ids = { traceId: () => "1".repeat(32), spanId: () => "2".repeat(16) };
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;

const TOPOLOGY_HEADERS = [
  "CG-Recursion-Depth",
  "CG-Step-Id",
  "CG-Tool-Call-Id",
  "CG-Parent-Agent-Id",
  "CG-Parent-Turn-Id",
  "CG-Parent-Step-Id",
];
const fieldsOf = ({ headers: _, ...fields }: CGContext) => fields;

const context = createContext({
  projectId: "demo",
  channelId: "u_1",
  agentId: "helper",
  agentTurnId: "turn_1",
  turnEpoch: 3,
  recursionDepth: 2,
  stepId: "step_1",
  toolCallId: "tc_1",
  traceId: TRACE,
  parentAgentId: "boss",
  parentAgentTurnId: "turn_0",
  parentStepId: "step_0",
  headers: { traceparent: TRACEPARENT, "X-Team": "blue" },
});
const identity = {
  "CG-Project-Id": "demo",
  "CG-Channel-Id": "u_1",
  "CG-Agent-Id": "helper",
  "CG-Turn-Id": "turn_1",
  "CG-Turn-Epoch": "3",
};

test("[UTP-2.6-6] a message with as many headers as are allowed can be sent on, stored and replayed", () => {
  const subject = parseSubject("cg.v1r4.demo.u_1.cmd.tool.text.run");
  const others = Object.fromEntries(Array.from({ length: 128 }, (_, index) => [`X-${index}`, "x"]));
  const first = ingress({ subject, headers: { ...others, "CG-Agent-Id": "helper" }, payload: {} }, ids).context;
  const sent = egress(first, ids, "topology");
  expect(fieldsOf(ingress({ subject, headers: sent, payload: {} }, ids).context)).toEqual(fieldsOf(first));
  const row = { inboxId: "i1", messageType: "tool_result", projectId: "demo", agentId: "helper", channelId: "u_1" };
  expect(fieldsOf(replay({ ...row, contextHeaders: sent, payload: {} }, ids).context)).toEqual(fieldsOf(first));
});

describe("egress", () => {
  test("[UTP-2.6-1] [UTP-2.6-2] topology mode writes identity, depth, step, call and parents", () => {
    expect(egress(context, ids, "topology")).toEqual({
      ...identity,
      "CG-Recursion-Depth": "2",
      "CG-Step-Id": "step_1",
      "CG-Tool-Call-Id": "tc_1",
      "CG-Parent-Agent-Id": "boss",
      "CG-Parent-Turn-Id": "turn_0",
      "CG-Parent-Step-Id": "step_0",
      traceparent: TRACEPARENT,
      "X-Team": "blue",
    });
  });

  test("[UTP-2.6-3] doorbell mode is the default and leaves the topology out", () => {
    const inherited = Object.fromEntries(TOPOLOGY_HEADERS.map((name) => [name, "9"]));
    const stale = evolveContext(context, { headers: { ...context.headers, ...inherited } });
    expect(egress(stale, ids)).toEqual({ ...identity, traceparent: TRACEPARENT, "X-Team": "blue" });
    expect(egress(stale, ids, "doorbell")).toEqual(egress(stale, ids));
  });

  test("[UTP-2.6-1] the fields beat inherited identity, and a turn that is over leaves no header behind", () => {
    const headers = {
      "CG-Project-Id": "other",
      "CG-Agent-Id": "other",
      "CG-Channel-Id": "other",
      "CG-Turn-Id": "old",
      "CG-Turn-Epoch": "9",
    };
    const fresh = evolveContext(context, { headers, agentTurnId: "", turnEpoch: 0 });
    const out = egress(fresh, ids);
    expect(out).toMatchObject({
      "CG-Project-Id": "demo",
      "CG-Agent-Id": "helper",
      "CG-Channel-Id": "u_1",
      "CG-Turn-Epoch": "0",
    });
    expect(out).not.toHaveProperty("CG-Turn-Id");
  });

  test("[UTP-2.6-2] topology mode removes inherited headers whose field is empty", () => {
    const inherited = Object.fromEntries(TOPOLOGY_HEADERS.map((name) => [name, "9"]));
    const bare = createContext({ projectId: "demo", agentId: "helper", headers: inherited });
    const out = egress(bare, ids, "topology");
    expect(TOPOLOGY_HEADERS.filter((name) => name in out)).toEqual(["CG-Recursion-Depth"]);
    expect(out["CG-Recursion-Depth"]).toBe("0");
  });

  test("[UTP-2.6-4] an empty tracestate is dropped, a filled one passed on", () => {
    expect(egress(evolveContext(context, { headers: { tracestate: " " } }), ids)).not.toHaveProperty("tracestate");
    expect(egress(evolveContext(context, { headers: { tracestate: "a=1" } }), ids).tracestate).toBe("a=1");
  });

  test("[UTP-2.6-4] traceparent is kept, made in the known trace, or made new; a contradiction is a violation", () => {
    const withHeaders = (traceId: string | null, headers: Record<string, string>) =>
      egress(evolveContext(context, { traceId, headers }), ids).traceparent;
    expect(withHeaders(null, { traceparent: TRACEPARENT })).toBe(TRACEPARENT);
    expect(withHeaders(TRACE, {})).toBe(`00-${TRACE}-${"2".repeat(16)}-01`);
    expect(withHeaders(null, {})).toBe(`00-${"1".repeat(32)}-${"2".repeat(16)}-01`);
    expect(() => withHeaders("3".repeat(32), { traceparent: TRACEPARENT })).toThrow(refused);
  });

  test("[UTP-2.1-7] what was said about the inbound message alone is not repeated", () => {
    const inbound = {
      ...Object.fromEntries(STAMP_HEADERS.map((name) => [name, "1"])),
      "Nats-Msg-Id": "m1",
      "nats-expected-stream": "s",
      "CG-L0-Ack-Reply": "r",
      "X-Team": "red",
    };
    const out = egress(evolveContext(context, { headers: inbound }), ids);
    expect(Object.keys(out).sort()).toEqual([...Object.keys(identity), "X-Team", "traceparent"].sort());
  });

  test("a context is not changed by writing it out", () => {
    const before = structuredClone(context);
    egress(context, ids, "topology");
    expect(context).toEqual(before);
  });
});

const token = fc.string({ unit: fc.constantFrom(..."abcXYZ019_-"), minLength: 1, maxLength: 10 });
const printable = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 10,
});
const count = fc.nat({ max: 2_147_483_647 });
const optional = fc.option(printable, { nil: null });
const inherited = fc.dictionary(
  fc.oneof(fc.constantFrom(...Object.values(HEADERS).filter((name) => !name.includes("race"))), token),
  printable,
  { maxKeys: 6 },
);
const contexts: fc.Arbitrary<CGContext> = fc
  .record({
    projectId: token,
    channelId: token,
    agentId: printable,
    agentTurnId: fc.oneof(printable, fc.constant("")),
    turnEpoch: count,
    recursionDepth: count,
    stepId: optional,
    toolCallId: optional,
    parentAgentId: optional,
    parentAgentTurnId: optional,
    parentStepId: optional,
    traceId: fc.constant(TRACE),
    headers: inherited,
  })
  .map((fields) => createContext(fields));

const roundTrip = (value: CGContext): CGContext => {
  const subject = parseSubject(`cg.v1r4.${value.projectId}.${value.channelId}.cmd.tool.text.run`);
  return ingress({ subject, headers: egress(value, ids, "topology"), payload: {} }, ids).context;
};

test("[UTP-2.6-5] ingress(egress(context)) is the same context", () => {
  fc.assert(
    fc.property(contexts, (value) => {
      const once = roundTrip(value);
      expect(fieldsOf(once)).toEqual(fieldsOf(value));
      expect(roundTrip(once)).toEqual(once);
    }),
    { numRuns: 1000 },
  );
});

test("[UTP-2.2-4] a context with turn and call writes every header a command needs", () => {
  fc.assert(
    fc.property(contexts, (value) => {
      const headers = egress(value, ids, "topology");
      expect(headers.traceparent).toBeTruthy();
      expect(headers[HEADERS.agentId]).toBe(value.agentId);
      expect(headers[HEADERS.turnId] ?? "").toBe(value.agentTurnId);
      expect(headers[HEADERS.toolCallId] ?? null).toBe(value.toolCallId);
    }),
  );
});
