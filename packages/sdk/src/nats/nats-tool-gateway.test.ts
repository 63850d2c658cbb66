import { createContext, HEADERS, type ToolDefinition } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createNatsWorld as createWorld, START } from "../../test/nats-world.ts";
import { built, TRACEPARENT } from "../../test/sample-call.ts";
import { refuse, reply } from "../../test/scripted-link.ts";

const held = { toolCallId: "call_1", leaseId: "lease_1" };
const settledBody = { tool_result_card_id: "card_r", status: "success", idempotent: false };
const settlement = { ...held, status: "success", result: { words: 3 }, error: null } as const;

describe("the other operations", () => {
  const asked = (world: ReturnType<typeof createWorld>) => world.link.questions.at(-1);

  test("[API-5-N1] heartbeat: the new end on our clock, or the news that it is over", async () => {
    const world = createWorld(() => reply({ expires_at: "2026-11-15T00:00:20Z", cancel: false }, 200, START + 5_000));
    expect(await world.gateway.heartbeat(held)).toEqual({ expiresAt: START + 15_000, cancel: false });
    expect(asked(world)).toMatchObject({
      subject: "cg.v1r4.demo.public.rpc.gateway.text.heartbeat",
      headers: { [HEADERS.projectId]: "demo", [HEADERS.toolCallId]: "call_1" },
      body: { lease: "lease_1" },
    });
    world.link.answer = () => reply({ expires_at: null, cancel: true });
    expect(await world.gateway.heartbeat(held)).toMatchObject({ cancel: true });
  });

  test("[API-5-N1] settle, release and the card of a call", async () => {
    const world = createWorld(() => reply(settledBody));
    expect(await world.gateway.settle({ ...settlement, definitionHash: "abc", traceparent: TRACEPARENT })).toEqual({
      toolResultCardId: "card_r",
      idempotent: false,
    });
    expect(asked(world)).toMatchObject({
      operation: "settle",
      headers: { [HEADERS.toolCallId]: "call_1", [HEADERS.traceparent]: TRACEPARENT },
      body: { lease: "lease_1", status: "success", result: { words: 3 }, definition_hash: "abc" },
    });
    // A failed attempt that is tried again has no card.
    world.link.answer = () => reply({ tool_result_card_id: null, status: "queued", idempotent: false });
    expect(await world.gateway.settle(settlement)).toEqual({ toolResultCardId: null, idempotent: false });
    world.link.answer = () => reply({ released: true });
    await world.gateway.release(held);
    expect(asked(world)).toMatchObject({ operation: "release", body: { lease: "lease_1" } });
    world.link.answer = ({ body }) => (body.card_id === "gone" ? refuse("not_found", 404) : reply({ card_id: "c" }));
    expect(await world.gateway.readCard({ cardId: "c", toolCallId: "call_1" })).toEqual({ card_id: "c" });
    expect(await world.gateway.readCard({ cardId: "gone", toolCallId: "call_1" })).toBeUndefined();
    expect(await world.gateway.readCard({ cardId: "c" })).toBeUndefined();
  });

  test("[API-5-N1] two steps: the card, then a report with three fields under CG headers and a lease", async () => {
    const world = createWorld(() => reply(settledBody));
    const context = createContext({
      projectId: "demo",
      channelId: "u_1",
      agentId: "agent_a",
      agentTurnId: "turn_1",
      toolCallId: "call_1",
      headers: { [HEADERS.traceparent]: TRACEPARENT },
    });
    await world.gateway.putCard({ card: built.card, leaseId: "lease_1" });
    expect(asked(world)).toMatchObject({
      operation: "put_card",
      headers: { "CG-Lease": "lease_1", [HEADERS.toolCallId]: "call_1" },
      body: { card_id: "card_r", type: "tool.result" },
    });
    const source = createContext({ projectId: "demo", agentId: "tool.text" });
    await world.gateway.report({ source, target: context, payload: built.payload, leaseId: "lease_1" });
    expect(asked(world)).toMatchObject({
      subject: "cg.v1r4.demo.u_1.rpc.gateway.text.report",
      headers: { "CG-Lease": "lease_1", [HEADERS.turnId]: "turn_1", [HEADERS.toolCallId]: "call_1" },
      body: built.payload,
    });
  });

  test("[API-5-N1] tools are found by name and registered", async () => {
    const world = createWorld(({ body }) =>
      body.tool_name === "there" ? reply({ definition_hash: "h", target_subject: "s" }) : refuse("not_found", 404),
    );
    expect(await world.gateway.findTool("there")).toEqual({ definitionHash: "h", targetSubject: "s" });
    expect(await world.gateway.findTool("other")).toBeUndefined();
    world.link.answer = () => reply({}, 201);
    await world.gateway.register({ tool_name: "new" } as unknown as ToolDefinition);
    expect(asked(world)).toMatchObject({ operation: "register", body: { tool_name: "new" } });
  });

  test("[API-5-N6] a result is sent until it is accepted, the same each time, and at once when NATS is back", async () => {
    const world = createWorld(() => reply(settledBody));
    world.link.cut();
    const work = world.gateway.settle(settlement, { until: () => START + 15_000 });
    await world.clock.advance(3_500);
    const tries = world.link.questions.length;
    expect(tries).toBeGreaterThan(2);
    world.link.mend();
    expect(await work).toMatchObject({ toolResultCardId: "card_r" });
    expect(world.clock.now()).toBe(START + 3_500);
    expect(new Set(world.link.questions.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  test("[API-5-N6] a failure without a status, and a status without a body, are failures", async () => {
    const world = createWorld(() => ({
      headers: {},
      payload: JSON.stringify({ error: { code: "lease_lost", message: "no" } }),
    }));
    await expect(world.gateway.release(held)).rejects.toMatchObject({ code: "lease_lost" });
    world.link.answer = () => reply(undefined, 503);
    await expect(world.gateway.release(held)).rejects.toMatchObject({ code: "upstream_unavailable" });
  });

  test("[API-5-N7] what the server could not carry is refused before it is sent, and says what to do", async () => {
    const world = createWorld(() => reply(settledBody));
    world.link.maxPayload = () => 10_000;
    const large = { ...settlement, result: "x".repeat(10_000) };
    await expect(world.gateway.settle(large, { until: () => Infinity })).rejects.toMatchObject({
      code: "payload_too_large",
      message: expect.stringContaining("serve over HTTP"),
    });
    expect(world.link.questions).toEqual([]);
  });
});
