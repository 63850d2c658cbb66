import { createContext, HEADERS, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createHttpWorld as createWorld, held, settledBody, settlement } from "../../test/http-world.ts";
import { createHastyClock, settle, until } from "../../test/manual-clock.ts";
import { built, TRACEPARENT } from "../../test/sample-call.ts";
import { createScriptedServer } from "../../test/scripted-server.ts";

describe("claim", () => {
  const command = {
    subject: "cg.v1r4.demo.public.cmd.tool.text.count_words",
    headers: { [HEADERS.toolCallId]: "call_1", odd: 3 },
    payload: { tool_name: "count_words" },
    lease: { id: "lease_1", expires_at: "2026-11-15T01:00:15Z" },
    run_deadline: "2026-11-15T01:00:30Z",
    session: { turns: 1 },
    extension: true,
  };

  test("[API-6-S5] asks with max and wait_seconds and reads commands, leases and sessions", async () => {
    await using world = await createWorld(() => ({ body: { commands: [command] } }));
    // The server's clock is an hour ahead of ours: its times are taken relative to its own Date header.
    world.server.answer = () => ({
      body: { commands: [command] },
      headers: { date: new Date("2026-11-15T01:00:00Z").toUTCString() },
    });
    const commands = await world.gateway.claim({ target: "text", max: 3, waitMs: 20_000 });
    expect(world.server.requests[0]).toMatchObject({
      method: "POST",
      path: "/projects/demo/tool-services/text/claim",
      body: { max: 3, wait_seconds: 20 },
    });
    expect(world.server.requests[0]?.headers.authorization).toBe("Bearer tok-123");
    expect(commands).toEqual([
      {
        subject: command.subject,
        headers: { [HEADERS.toolCallId]: "call_1" },
        payload: command.payload,
        lease: { id: "lease_1", expiresAt: world.clock.now() + 15_000 },
        runDeadline: world.clock.now() + 30_000,
        session: { turns: 1 },
        card: undefined,
      },
    ]);
  });

  test("[API-6-S5] a command without a readable lease is left out; the others count", async () => {
    const broken = [
      null,
      3,
      {},
      { ...command, lease: { id: "" } },
      { ...command, lease: { id: "x", expires_at: "soon" } },
    ];
    await using world = await createWorld(() => ({ body: { commands: [...broken, command] } }));
    expect(await world.gateway.claim({ target: "text", max: 9, waitMs: 0 })).toHaveLength(1);
  });

  test.each([
    ["not JSON", { text: "<html>" }],
    ["no list", { body: { commands: 3 } }],
    ["nothing", {}],
  ])("[API-6-S4] an answer that is %s is the server's trouble", async (_name, answer) => {
    await using world = await createWorld(() => answer);
    const claim = world.gateway.claim({ target: "text", max: 1, waitMs: 0 });
    await expect(claim).rejects.toMatchObject({ code: "upstream_unavailable" });
  });

  test("[API-6-S6] a claim that is given up ends at once", async () => {
    await using world = await createWorld(() => undefined);
    const given = new AbortController();
    const claim = world.gateway.claim({ target: "text", max: 1, waitMs: 20_000 }, given.signal);
    const caught = claim.catch((error: unknown) => error);
    await until(() => world.server.requests.length === 1, "the claim arrives");
    given.abort();
    expect(await caught).toMatchObject({ code: "canceled" });
  });

  test("[API-6-S6] a server that hangs is given up after the wait and a margin", async () => {
    await using world = await createWorld(() => undefined);
    const claim = world.gateway.claim({ target: "text", max: 1, waitMs: 20_000 });
    const caught = claim.catch((error: unknown) => error);
    await until(() => world.server.requests.length === 1, "the claim arrives");
    await world.clock.advance(29_000);
    expect(world.clock.sleeping()).toBe(1);
    await world.clock.advance(2_000);
    expect(await caught).toMatchObject({ code: "upstream_unavailable", message: expect.stringContaining("30000 ms") });
  });
});

describe("settle", () => {
  test("[API-6-S7] one step: lease, status, result, definition hash; the span as a header", async () => {
    await using world = await createWorld(() => ({ body: settledBody }));
    const answer = await world.gateway.settle({
      ...settlement,
      definitionHash: "abc",
      sessionState: { n: 1 },
      traceparent: TRACEPARENT,
    });
    expect(answer).toEqual({ toolResultCardId: "card_r", idempotent: false });
    const [request] = world.server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/projects/demo/calls/call_1/result" });
    expect(request?.body).toEqual({
      lease: "lease_1",
      status: "success",
      result: { words: 3 },
      definition_hash: "abc",
      session_state: { n: 1 },
    });
    expect(request?.headers.traceparent).toBe(TRACEPARENT);
  });

  test("[API-6-S2] hang-ups, 500s, 429 and nonsense are tried again, with the same body, until it is accepted", async () => {
    const answers = [
      { hangUp: true },
      { status: 500, text: "oops" },
      { status: 503, body: { error: { code: "storage_error", message: "busy", retryable: true } } },
      { status: 429, headers: { "retry-after": "2" }, body: {} },
      { text: "not json" },
      { body: { nothing: true } },
      { body: settledBody },
    ];
    const clock = createHastyClock(4_000);
    const began = clock.now();
    await using world = await createWorld(() => answers[world.server.requests.length - 1], clock);
    const answer = await world.gateway.settle(settlement, { until: () => began + 600_000 });
    expect(answer.toolResultCardId).toBe("card_r");
    expect(world.server.requests).toHaveLength(7);
    expect(new Set(world.server.requests.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    // Backoff of 100, 200, 400, 1600 and 2500 ms, and the two seconds the server asked for.
    expect(clock.now() - began).toBe(6_800);
  });

  test("[API-6-S2] a refusal is not tried again", async () => {
    await using world = await createWorld(() => ({
      status: 409,
      body: { error: { code: "lease_lost", message: "another service holds it", retryable: false } },
    }));
    const work = world.gateway.settle(settlement, { until: () => Infinity });
    await expect(work).rejects.toMatchObject({ code: "lease_lost", message: "another service holds it" });
    expect(world.server.requests).toHaveLength(1);
  });

  test("[API-6-S8] connections are kept alive", async () => {
    await using world = await createWorld(() => ({ body: settledBody }));
    for (let i = 0; i < 10; i += 1) await world.gateway.settle(settlement);
    // A second one may be opened while the first is still being cleared up.
    expect(new Set(world.server.requests.map(({ connection }) => connection)).size).toBeLessThanOrEqual(2);
  });
});

describe("the other operations", () => {
  test("[API-6-S5] heartbeat: the new end, or the news that it is over", async () => {
    await using world = await createWorld(() => ({ body: { expires_at: "2026-11-15T00:00:15Z", cancel: false } }));
    world.server.answer = () => ({
      body: { expires_at: "2026-11-15T00:00:15Z", cancel: false },
      headers: { date: new Date(world.clock.now()).toUTCString() },
    });
    expect(await world.gateway.heartbeat(held)).toEqual({ expiresAt: world.clock.now() + 15_000, cancel: false });
    expect(world.server.requests[0]).toMatchObject({
      path: "/projects/demo/calls/call%2F1/heartbeat",
      body: { lease: "lease_1" },
    });
    world.server.answer = () => ({ body: { expires_at: null, cancel: true } });
    expect(await world.gateway.heartbeat(held)).toMatchObject({ cancel: true });
    world.server.answer = () => ({ body: { cancel: false } });
    await expect(world.gateway.heartbeat(held)).rejects.toMatchObject({ code: "upstream_unavailable" });
  });

  test("[API-6-S5] a card is read by its call, or by its id; none is undefined", async () => {
    await using world = await createWorld(({ path }) =>
      path.endsWith("/gone")
        ? { status: 404, body: { error: { code: "not_found", message: "no" } } }
        : { body: { card_id: "c" } },
    );
    expect(await world.gateway.readCard({ cardId: "c", toolCallId: "call_1" })).toEqual({ card_id: "c" });
    expect(await world.gateway.readCard({ cardId: "c" })).toEqual({ card_id: "c" });
    expect(await world.gateway.readCard({ cardId: "gone" })).toBeUndefined();
    world.server.answer = () => ({ body: null });
    expect(await world.gateway.readCard({ cardId: "none" })).toBeUndefined();
    expect(world.server.requests.map(({ path }) => path)).toEqual([
      "/projects/demo/calls/call_1/card",
      "/projects/demo/cards/c",
      "/projects/demo/cards/gone",
      "/projects/demo/cards/none",
    ]);
  });

  test("[API-6-S7] two steps: the card, then a report with three fields under CG headers and a lease", async () => {
    await using world = await createWorld(({ path }) => ({ body: path.endsWith("/cards") ? {} : settledBody }));
    const context = createContext({
      projectId: "demo",
      agentId: "agent_a",
      agentTurnId: "turn_1",
      turnEpoch: 3,
      toolCallId: "call_1",
      stepId: "step_1",
      headers: { [HEADERS.traceparent]: TRACEPARENT },
    });
    await world.gateway.putCard({ card: built.card, leaseId: "lease_1" });
    const source = createContext({ projectId: "demo", agentId: "tool.text" });
    await world.gateway.report({ source, target: context, payload: built.payload, leaseId: "lease_1" });
    const [card, report] = world.server.requests;
    expect(card).toMatchObject({
      path: "/projects/demo/cards",
      headers: { "cg-lease": "lease_1" },
      body: { card_id: "card_r", type: "tool.result" },
    });
    expect(report?.body).toEqual(built.payload);
    expect(report?.headers).toMatchObject({
      "cg-agent-id": "agent_a",
      "cg-turn-id": "turn_1",
      "cg-turn-epoch": "3",
      "cg-tool-call-id": "call_1",
      "cg-step-id": "step_1",
      "cg-lease": "lease_1",
      traceparent: TRACEPARENT,
    });
  });

  test("[API-6-S5] release says which lease", async () => {
    await using world = await createWorld(() => ({ status: 204 }));
    await world.gateway.release(held);
    expect(world.server.requests[0]).toMatchObject({
      path: "/projects/demo/calls/call%2F1/release",
      body: { lease: "lease_1" },
    });
  });

  test("[API-6-S9] a redirect is not followed, so the token goes nowhere else", async () => {
    await using other = await createScriptedServer(() => ({ body: {} }));
    await using world = await createWorld(() => ({ status: 307, headers: { location: `${other.url}/x` } }));
    await expect(world.gateway.release(held)).rejects.toMatchObject({ code: "bad_request" });
    expect(other.requests).toEqual([]);
  });

  test("[API-6-S9] no server is one clear error, and the token is in no error and no log", async () => {
    const world = await createWorld(() => ({ body: {} }));
    await world[Symbol.asyncDispose]();
    const error: unknown = await world.gateway.release(held).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolplaneError);
    expect(error).toMatchObject({
      message: `no Toolplane server answers at ${world.server.url}`,
      detail: { reason: "ECONNREFUSED" },
    });
    expect(JSON.stringify(error) + world.log.text()).not.toContain("tok-123");
  });
});

describe("parts", () => {
  const context = createContext({ projectId: "demo", agentId: "agent_a" });
  const part = (index: number) => ({
    context,
    toolCallId: "call_1",
    leaseId: "lease_1",
    parts: [{ index, part: index }],
  });

  test("[API-6-S10] parts are joined while a request is under way and arrive in order", async () => {
    await using world = await createWorld(() => undefined);
    let release: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.server.answer = async () => {
      await gate;
      return { body: {} };
    };
    for (let i = 0; i < 5; i += 1) world.gateway.sendParts(part(i));
    await until(() => world.server.requests.length === 1, "the first part arrives");
    release?.();
    await until(() => world.server.requests.length === 2, "the rest arrives");
    expect(world.server.requests.map(({ body }) => body)).toEqual([
      { lease: "lease_1", parts: [{ index: 0, part: 0 }] },
      { lease: "lease_1", parts: [1, 2, 3, 4].map((index) => ({ index, part: index })) },
    ]);
    expect(world.server.requests[0]?.path).toBe("/projects/demo/calls/call_1/parts");
  });

  test("[API-6-S10] parts that cannot be delivered are lost, said once, and hurt nobody", async () => {
    await using world = await createWorld(() => ({
      status: 404,
      body: { error: { code: "not_found", message: "no" } },
    }));
    for (let i = 0; i < 3; i += 1) {
      world.gateway.sendParts(part(i));
      await until(() => world.server.requests.length > i, "the part arrives");
      await settle();
    }
    await until(() => world.log.entries.length > 0, "the loss is logged");
    expect(world.log.entries).toHaveLength(1);
  });

  const result = { toolCallId: "call_1", leaseId: "lease_1", status: "success", result: 1, error: null } as const;
  const said = ({ path }: { path: string }): string => path.split("/").at(-1) ?? "";

  test("[API-6-S46] the result of a call goes after its parts, however slow the plane takes them", async () => {
    const order: string[] = [];
    await using world = await createWorld(async (request) => {
      order.push(said(request));
      await settle();
      return { body: { tool_result_card_id: "card_r", idempotent: false } };
    });
    for (let i = 0; i < 3; i += 1) world.gateway.sendParts(part(i));
    await Promise.all([world.gateway.settle(result), world.gateway.settle({ ...result, toolCallId: "call_2" })]);
    expect(order.filter((name) => name === "parts")).toHaveLength(2);
    expect(order.at(-1), "the result of call_1").toBe("result");
    expect(order.indexOf("result"), "call_2 has no parts and waits for none").toBeLessThan(2);
    expect(world.log.entries).toEqual([]);
  });

  test("[API-6-S46] parts that the plane does not take hold a result up for a bounded time, and are dropped", async () => {
    await using world = await createWorld((request) =>
      said(request) === "parts" ? undefined : { body: { tool_result_card_id: "card_r", idempotent: false } },
    );
    for (let i = 0; i < 3; i += 1) world.gateway.sendParts(part(i));
    const settled = world.gateway.settle(result);
    await until(() => world.server.requests.length === 1, "the first part is on its way");
    await world.clock.advance(2_000);
    expect(await settled).toMatchObject({ toolResultCardId: "card_r" });
    expect(world.server.requests.map(said)).toEqual(["parts", "result"]);
    expect(world.log.text()).toContain("not taken in time");
  });
});

describe("tools", () => {
  test("[API-6-4] what is registered is read by name; what is not is undefined", async () => {
    await using world = await createWorld(({ path }) =>
      path.endsWith("/there") || path.endsWith("/there?version=2")
        ? { body: { tool_name: "there", definition_hash: "h", target_subject: "s", version: 2 } }
        : { status: 404, body: { error: { code: "not_found", message: "no" } } },
    );
    expect(await world.gateway.findTool("there")).toEqual({ definitionHash: "h", targetSubject: "s" });
    expect(await world.gateway.findTool("other")).toBeUndefined();
    expect(await world.gateway.readDefinition({ toolName: "there", version: 2 })).toMatchObject({ tool_name: "there" });
    expect(await world.gateway.readDefinition({ toolName: "there", version: 3 })).toBeUndefined();
  });
});
