// The gateway inside the process: the sdk's port, answered by a real engine.

import { type Engine, systemClock } from "@toolplane/engine";
import { createContext, HEADERS, ToolplaneError, withToolCall } from "@toolplane/protocol";
import type { ClaimedCommand, ToolGateway } from "@toolplane/sdk/protocol";
import { createEngineGateway, NO_OFFSET } from "@toolplane/server/internal";
import { startTestEngine, until } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";

interface World extends AsyncDisposable {
  readonly engine: Engine;
  readonly gateway: ToolGateway;
}

const PROJECT = "demo";
const TARGET = "test";

const gatewayOf = (engine: Parameters<typeof createEngineGateway>[0]["engine"], aheadMs = 0): ToolGateway =>
  createEngineGateway({
    engine,
    projectId: PROJECT,
    actorId: `tool.${TARGET}`,
    holder: "a test",
    clock: systemClock,
    random: () => 0,
    offset: { ...NO_OFFSET, aheadMs: () => aheadMs },
  });

const openWorld = async (aheadMs = 0): Promise<World> => {
  const test = await startTestEngine();
  return {
    engine: test.engine,
    gateway: gatewayOf(test.engine, aheadMs),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
};

const claimOne = async (
  { engine, gateway }: World,
  args: object = { a: 1 },
): Promise<ClaimedCommand & { readonly id: string }> => {
  const { toolCallId } = await engine.calls.dispatch({ projectId: PROJECT, toolName: "safe", arguments: args });
  const [command] = await gateway.claim({ target: TARGET, max: 1, waitMs: 0 });
  return { ...(command as ClaimedCommand), id: toolCallId };
};

const heldBy = ({ id, lease }: { readonly id: string; readonly lease?: { readonly id: string } | undefined }) => ({
  toolCallId: id,
  leaseId: lease?.id ?? "",
});

describe("[UP-8-10] the gateway inside the process keeps the port's promises", () => {
  test("claim brings command, lease, deadline and card; readCard gives the same card", async () => {
    await using world = await openWorld();
    const command = await claimOne(world);
    expect(command.headers[HEADERS.toolCallId]).toBe(command.id);
    expect(command.lease?.expiresAt).toBeGreaterThan(Date.now());
    expect(command.runDeadline).toBeGreaterThan(Date.now());
    const { tool_call_card_id: cardId } = command.payload as { readonly tool_call_card_id: string };
    expect(command.card).toMatchObject({ card_id: cardId, content: { arguments: { a: 1 } } });
    expect(await world.gateway.readCard({ cardId })).toMatchObject(command.card as object);
    expect(await world.gateway.readCard({ cardId: "0".repeat(32) })).toBeUndefined();
  });

  test("times are on the service's own clock", async () => {
    await using world = await openWorld(3_600_000);
    const command = await claimOne(world);
    expect(command.lease?.expiresAt).toBeLessThan(Date.now());
    const beat = await world.gateway.heartbeat(heldBy(command));
    expect(beat.expiresAt).toBeLessThan(Date.now());
    expect(beat.cancel).toBe(false);
  });

  test("settle, once; the same again is idempotent, anything else is already_settled", async () => {
    await using world = await openWorld();
    const { gateway, engine } = world;
    const command = await claimOne(world);
    const settlement = { ...heldBy(command), status: "success", result: { ok: true }, error: null } as const;
    expect(await gateway.settle(settlement)).toMatchObject({ idempotent: false });
    expect(await gateway.settle(settlement)).toMatchObject({ idempotent: true });
    await expect(gateway.settle({ ...settlement, result: { ok: false } })).rejects.toMatchObject({
      code: "already_settled",
    });
    expect((await engine.calls.get({ projectId: PROJECT, toolCallId: command.id })).status).toBe("success");
  });

  test("a canceled call is told by the heartbeat; a lost lease is refused", async () => {
    await using world = await openWorld();
    const command = await claimOne(world);
    await world.engine.calls.cancel({ projectId: PROJECT, toolCallId: command.id, reason: "enough" });
    expect(await world.gateway.heartbeat(heldBy(command))).toMatchObject({ cancel: true });
    await expect(world.gateway.heartbeat({ ...heldBy(command), leaseId: "another" })).rejects.toMatchObject({
      code: "lease_lost",
    });
  });

  test("release gives the call back to the queue", async () => {
    await using world = await openWorld();
    const command = await claimOne(world);
    await world.gateway.release(heldBy(command));
    expect(await world.gateway.claim({ target: TARGET, max: 1, waitMs: 0 })).toHaveLength(1);
  });

  test("a report without a call is refused before it is sent", async () => {
    await using world = await openWorld();
    const context = createContext({ projectId: PROJECT, agentId: "sys.api" });
    const payload = { status: "success", after_execution: "suspend", tool_result_card_id: "x" } as const;
    await expect(world.gateway.report({ source: context, target: context, payload })).rejects.toMatchObject({
      code: "protocol_violation",
    });
    const target = withToolCall(context, "nothing");
    await expect(world.gateway.report({ source: context, target, payload })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("[HTTP-1-1] readDefinition gives a version also after it was replaced and the tool deleted", async () => {
    await using world = await openWorld();
    const { engine, gateway } = world;
    const before = await engine.tools.getTool(PROJECT, "safe");
    await engine.tools.upsertTool(PROJECT, { ...before?.definition, description: "changed" });
    await engine.tools.deleteTool(PROJECT, "safe");
    expect(await gateway.readDefinition({ toolName: "safe", version: 1 })).toEqual(before?.definition);
    expect(await gateway.readDefinition({ toolName: "safe", version: 3 })).toBeUndefined();
  });

  test("register and findTool know the tools of the project, and whose they are", async () => {
    await using world = await openWorld();
    const { gateway, engine } = world;
    expect(await gateway.findTool("nothing")).toBeUndefined();
    const known = await gateway.findTool("safe");
    expect(known?.targetSubject).toContain(".cmd.tool.test.safe");
    const tool = await engine.tools.getTool(PROJECT, "safe");
    await gateway.register({ ...(tool?.definition as NonNullable<typeof tool>["definition"]), tool_name: "mine" });
    expect((await engine.tools.getTool(PROJECT, "mine"))?.source).toBe("service:test");
  });

  test("parts are shown, and one that cannot be sent hurts nobody", async () => {
    await using world = await openWorld();
    const command = await claimOne(world);
    const heard: unknown[] = [];
    const stop = await world.engine.bus.subscribeStream("cg.v1r4.demo.*.str.agent.*.part", ({ payload }) => {
      heard.push(JSON.parse(payload));
    });
    const context = createContext({ projectId: PROJECT, agentId: "sys.api" });
    world.gateway.sendParts({ context, toolCallId: "nothing", parts: [{ index: 0, part: "lost" }] });
    world.gateway.sendParts({ context, toolCallId: command.id, parts: [{ index: 0, part: "shown" }] });
    await until("the part", () => heard.length > 0);
    stop();
    expect(heard).toMatchObject([{ tool_call_id: command.id, index: 0, part: "shown" }]);
  });

  test("what may pass is tried again until then, and only with leave to", async () => {
    await using world = await openWorld();
    const command = await claimOne(world);
    let failures = 2;
    const flaky = gatewayOf({
      ...world.engine,
      calls: {
        ...world.engine.calls,
        heartbeat: async (held) => {
          failures -= 1;
          if (failures >= 0) throw new ToolplaneError("storage_error", "away");
          return world.engine.calls.heartbeat(held);
        },
      },
    });
    await expect(flaky.heartbeat(heldBy(command))).rejects.toMatchObject({ code: "storage_error" });
    expect(await flaky.heartbeat(heldBy(command), { until: () => Date.now() + 60_000 })).toMatchObject({
      cancel: false,
    });
  });
});
