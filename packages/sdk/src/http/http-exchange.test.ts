import { createContext } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createHttpWorld as createWorld, held, settledBody, settlement } from "../../test/http-world.ts";
import { TRACEPARENT } from "../../test/sample-call.ts";

describe("what is said together", () => {
  test("[API-exchange-6] results, heartbeats, releases and parts of a served target share a request", async () => {
    const date = () => ({ date: new Date(world.clock.now()).toUTCString() });
    await using world = await createWorld(() => ({ headers: date(), body: { commands: [] } }));
    await world.gateway.claim({ target: "text", max: 1, waitMs: 0 });
    const expires_at = new Date(world.clock.now() + 15_000).toISOString();
    world.server.answer = () => ({
      headers: date(),
      body: {
        results: [{ tool_call_id: "call_1", ...settledBody }],
        heartbeats: [{ tool_call_id: "call/1", expires_at, cancel: false }],
        releases: [{ tool_call_id: "call/1", error: { code: "lease_lost", message: "gone" } }],
        parts: [{ tool_call_id: "call_2", accepted: 1 }],
        commands: [],
      },
    });
    const context = createContext({ projectId: "demo", agentId: "agent_a" });
    world.gateway.sendParts({ context, toolCallId: "call_2", leaseId: "lease_1", parts: [{ index: 0, part: 1 }] });
    const [settled, beat, released] = await Promise.allSettled([
      world.gateway.settle({ ...settlement, traceparent: TRACEPARENT }),
      world.gateway.heartbeat(held),
      world.gateway.release(held),
    ]);
    expect(settled).toMatchObject({ value: { toolResultCardId: "card_r", idempotent: false } });
    expect(beat).toMatchObject({ value: { expiresAt: world.clock.now() + 15_000, cancel: false } });
    expect(released).toMatchObject({ reason: { code: "lease_lost" } });
    expect(world.server.requests.slice(1).map(({ path, body }) => [path, body])).toEqual([
      [
        "/projects/demo/tool-services/text/exchange",
        {
          results: [
            {
              tool_call_id: "call_1",
              lease: "lease_1",
              status: "success",
              result: { words: 3 },
              traceparent: TRACEPARENT,
            },
          ],
          heartbeats: [{ tool_call_id: "call/1", lease: "lease_1" }],
          releases: [{ tool_call_id: "call/1", lease: "lease_1" }],
          parts: [{ tool_call_id: "call_2", lease: "lease_1", parts: [{ index: 0, part: 1 }] }],
        },
      ],
    ]);
  });

  test("[API-exchange-7] a server that has no such route gets them one by one, and is not asked again", async () => {
    await using world = await createWorld(() => ({ body: { commands: [] } }));
    await world.gateway.claim({ target: "text", max: 1, waitMs: 0 });
    world.server.answer = ({ path }) =>
      path.endsWith("/exchange")
        ? { status: 404, body: { error: { code: "not_found", message: "nothing there" } } }
        : { body: settledBody };
    await Promise.all([
      world.gateway.settle(settlement),
      world.gateway.settle({ ...settlement, toolCallId: "call_2" }),
    ]);
    await world.gateway.settle({ ...settlement, toolCallId: "call_3" });
    const paths = world.server.requests.slice(1).map(({ path }) => path.split("/").slice(3).join("/"));
    expect(paths[0]).toBe("tool-services/text/exchange");
    expect(paths.slice(1).sort()).toEqual(["calls/call_1/result", "calls/call_2/result", "calls/call_3/result"]);
  });
});
