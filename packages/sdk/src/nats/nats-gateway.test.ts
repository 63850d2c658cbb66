import { buildResult, createContext, HEADERS, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createManualClock, settle, until } from "../../test/manual-clock.ts";
import { createRecordingLog } from "../../test/recording-log.ts";
import { countingIds, sampleCall, TRACEPARENT } from "../../test/sample-call.ts";
import { type Answering, createScriptedLink, leased, refuse, reply } from "../../test/scripted-link.ts";
import { createNatsToolGateway } from "./nats-gateway.ts";

const START = Date.parse("2026-11-15T00:00:00Z");

const createWorld = (answer?: Answering) => {
  const link = createScriptedLink(answer);
  const clock = createManualClock(START);
  const log = createRecordingLog();
  const gateway = createNatsToolGateway({
    link,
    projectId: "demo",
    actor: "tool.text",
    holder: "text@here:1",
    clock,
    random: () => 1,
    ids: countingIds(),
    log,
  });
  return { link, clock, log, gateway };
};

const held = { toolCallId: "call_1", leaseId: "lease_1" };
const settledBody = { tool_result_card_id: "card_r", status: "success", idempotent: false };
const settlement = { ...held, status: "success", result: { words: 3 }, error: null } as const;

describe("claim", () => {
  test("[API-5-N1] [ARCH-6-5] fetches from the target's durable, leases through the gateway, acknowledges what is leased", async () => {
    const { link, gateway, clock } = createWorld();
    const { command, card } = sampleCall({
      headers: { [HEADERS.channelId]: "u_1" },
      subject: "cg.v1r4.demo.u_1.cmd.tool.text.count_words",
    });
    // The server's clock is an hour ahead of ours: its times are taken relative to its own stamp.
    const hour = 3_600_000;
    link.answer = () => {
      const { headers, payload } = leased(command, START + hour + 15_000, card);
      return { headers: { ...headers, [HEADERS.timestamp]: String(START + hour) }, payload };
    };
    const [offered] = link.offer(command);
    const claimed = await gateway.claim({ target: "text", max: 3, waitMs: 20_000 });
    expect(link.durables).toEqual(["tool_text"]);
    expect(link.fetches).toEqual([{ max: 3, waitMs: 20_000 }]);
    expect(link.questions).toEqual([
      {
        operation: "lease",
        subject: "cg.v1r4.demo.u_1.rpc.gateway.text.lease",
        headers: {
          [HEADERS.projectId]: "demo",
          [HEADERS.channelId]: "u_1",
          [HEADERS.agentId]: "agent_a",
          [HEADERS.turnId]: "turn_1",
          [HEADERS.turnEpoch]: "3",
          [HEADERS.toolCallId]: "call_1",
          [HEADERS.traceparent]: TRACEPARENT,
        },
        body: { ...(command.payload as object), holder: "text@here:1" },
      },
    ]);
    expect(claimed).toEqual([
      {
        ...command,
        lease: { id: "lease_1", expiresAt: clock.now() + 15_000 },
        runDeadline: clock.now() + 30_000,
        session: undefined,
        card: JSON.parse(JSON.stringify(card)) as unknown,
      },
    ]);
    await settle();
    expect(offered?.said).toEqual(["ack"]);
  });

  test("[API-5-N1] many are leased at the same time", async () => {
    const { link, gateway } = createWorld();
    const waiting: (() => void)[] = [];
    const calls = ["a", "b", "c"].map((callId) => sampleCall({ callId, leaseId: `lease_${callId}` }).command);
    link.answer = async ({ headers }) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      const command = calls.find((call) => call.headers[HEADERS.toolCallId] === headers[HEADERS.toolCallId]);
      return command === undefined ? refuse("not_found", 404) : leased(command, START + 15_000);
    };
    link.offer(...calls);
    const claim = gateway.claim({ target: "text", max: 8, waitMs: 20_000 });
    await until(() => waiting.length === 3, "all three are asked for");
    for (const go of waiting) go();
    expect((await claim).map(({ lease }) => lease?.id)).toEqual(["lease_a", "lease_b", "lease_c"]);
  });

  test.each([
    ["held", refuse("lease_lost", 409, { status: "running" }), "ack"],
    ["over", refuse("lease_lost", 409, { status: "success" }), "ack"],
    ["gone", refuse("not_found", 404), "ack"],
    ["not due", refuse("lease_lost", 409, { status: "queued" }), "nak 1000"],
    ["too large", refuse("payload_too_large", 413), "nak 100"],
    ["broken", refuse("protocol_violation", 400), "term protocol_violation: said protocol_violation"],
  ])(
    "[API-5-N2] a call that is %s is no answer: the question stays open for the next",
    async (_name, refusal, word) => {
      const { link, gateway } = createWorld();
      const wanted = sampleCall({ callId: "call_2", leaseId: "lease_2" }).command;
      link.answer = ({ headers }) =>
        headers[HEADERS.toolCallId] === "call_2" ? leased(wanted, START + 15_000) : refusal;
      const [first] = link.offer(sampleCall().command);
      const claim = gateway.claim({ target: "text", max: 1, waitMs: 20_000 });
      await until(() => (first?.said.length ?? 0) > 0, "the first is settled");
      expect(first?.said).toEqual([word]);
      link.offer(wanted);
      expect((await claim).map(({ lease }) => lease?.id)).toEqual(["lease_2"]);
    },
  );

  test("[API-5-N3] a command of another project is given back without asking the gateway", async () => {
    const { link, gateway } = createWorld();
    const [foreign] = link.offer(sampleCall({ subject: "cg.v1r4.shop.public.cmd.tool.text.count_words" }).command);
    const given = new AbortController();
    const claim = gateway.claim({ target: "text", max: 1, waitMs: 20_000 }, given.signal);
    await until(() => foreign?.said.length === 1, "it is given back");
    given.abort();
    expect(await claim).toEqual([]);
    expect(foreign?.said).toEqual(["nak 100"]);
    expect(link.questions).toEqual([]);
  });

  test.each([
    ["the plane is away", refuse("upstream_unavailable", 503), "upstream_unavailable"],
    ["this service may not", refuse("auth_failed", 403), "auth_failed"],
    ["the answer has no lease", reply({ subject: "x" }), "upstream_unavailable"],
    ["the answer is no JSON", { headers: {}, payload: "<html>" }, "upstream_unavailable"],
  ])(
    "[API-5-N2] %s: the commands go back and the claim fails, so that the service slows down",
    async (_name, answer, code) => {
      const { link, gateway } = createWorld(() => answer);
      const offered = link.offer(sampleCall().command, sampleCall({ callId: "call_2" }).command);
      await expect(gateway.claim({ target: "text", max: 4, waitMs: 20_000 })).rejects.toMatchObject({ code });
      await settle();
      expect(offered.map(({ said }) => said)).toEqual([["nak 500"], ["nak 500"]]);
    },
  );

  test("[ARCH-6-5] while the gateway is asked the bus is told that somebody is at work", async () => {
    const { link, gateway, clock } = createWorld(() => new Promise(() => {}));
    const [offered] = link.offer(sampleCall().command);
    void gateway.claim({ target: "text", max: 1, waitMs: 0 });
    await until(() => link.questions.length === 1, "the lease is asked for");
    await clock.advance(25_000);
    expect(offered?.said).toEqual(["inProgress", "inProgress"]);
  });

  test("[API-5-N4] a lease that comes after the others were handed over is given back", async () => {
    const { link, gateway, clock } = createWorld();
    const quick = sampleCall({ callId: "quick", leaseId: "lease_quick" }).command;
    const slow = sampleCall({ callId: "slow", leaseId: "lease_slow" }).command;
    let answerSlow = (): void => {};
    link.answer = ({ operation, headers }) => {
      if (operation === "release") return reply({ released: true });
      if (headers[HEADERS.toolCallId] === "quick") return leased(quick, START + 15_000);
      return new Promise((resolve) => {
        answerSlow = () => resolve(leased(slow, START + 25_000));
      });
    };
    const offered = link.offer(quick, slow);
    const claim = gateway.claim({ target: "text", max: 2, waitMs: 20_000 });
    await until(() => link.questions.length === 2, "both are asked for");
    await clock.advance(4_000);
    expect((await claim).map(({ lease }) => lease?.id)).toEqual(["lease_quick"]);
    answerSlow();
    await until(() => link.questions.length === 3, "the late one is released");
    expect(link.questions[2]).toMatchObject({ operation: "release", body: { lease: "lease_slow" } });
    expect(offered[1]?.said).toEqual(["ack"]);
  });

  test("[API-5-N4] what arrives while the service stops goes back at once", async () => {
    const { link, gateway } = createWorld();
    const given = new AbortController();
    const [offered] = link.offer(sampleCall().command);
    const fetch = link.commands("tool_text").fetch;
    link.commands = () => ({
      fetch: async (options) => {
        const got = await fetch(options);
        given.abort();
        return got;
      },
    });
    expect(await gateway.claim({ target: "text", max: 1, waitMs: 20_000 }, given.signal)).toEqual([]);
    expect(offered?.said).toEqual(["nak"]);
    expect(link.questions).toEqual([]);
  });

  test("[API-5-N5] a durable that is not there yet is given a moment; then it is the plane's trouble", async () => {
    const { link, gateway, clock } = createWorld();
    const { command } = sampleCall();
    link.answer = () => leased(command, clock.now() + 15_000);
    link.missing = true;
    link.offer(command);
    const first = gateway.claim({ target: "text", max: 1, waitMs: 20_000 });
    await clock.advance(1_000);
    expect(link.fetches).toEqual([]);
    link.missing = false;
    await clock.advance(500);
    expect(await first).toHaveLength(1);
    // A server that was away may have lost it.
    link.missing = true;
    link.cut();
    link.mend();
    const second = gateway.claim({ target: "text", max: 1, waitMs: 20_000 }).catch((error: unknown) => error);
    await clock.advance(4_000);
    expect(await second).toMatchObject({ code: "upstream_unavailable", message: expect.stringContaining("tool_text") });
    expect(link.fetches).toHaveLength(1);
  });

  test("[API-5-N5] a fetch that fails is the claim's failure", async () => {
    const { link, gateway } = createWorld();
    link.failFetch = new ToolplaneError("upstream_unavailable", "the durable does not answer");
    const claim = gateway.claim({ target: "text", max: 1, waitMs: 20_000 });
    await expect(claim).rejects.toMatchObject({ code: "upstream_unavailable" });
  });

  test("[API-5-N5] while NATS is away the claim waits for it, and goes on the moment it is back", async () => {
    const { link, gateway, clock } = createWorld();
    const { command } = sampleCall();
    link.answer = () => leased(command, clock.now() + 15_000);
    link.cut();
    const claim = gateway.claim({ target: "text", max: 1, waitMs: 20_000 });
    await clock.advance(9_000);
    expect(link.fetches).toEqual([]);
    link.mend();
    await until(() => link.fetches.length === 1, "the commands are asked for");
    expect(link.fetches).toEqual([{ max: 1, waitMs: 11_000 }]);
    link.offer(command);
    expect(await claim).toHaveLength(1);
    link.cut();
    const second = gateway.claim({ target: "text", max: 1, waitMs: 20_000 }).catch((error: unknown) => error);
    await clock.advance(20_000);
    expect(await second).toMatchObject({ code: "upstream_unavailable" });
  });

  test("[API-5-N5] an acknowledgement that is lost is said once and costs nothing else", async () => {
    const { link, gateway, log, clock } = createWorld();
    const calls = ["a", "b"].map((callId) => sampleCall({ callId, leaseId: `lease_${callId}` }).command);
    let cut = false;
    link.answer = ({ headers }) => {
      if (!cut) link.cut();
      cut = true;
      const command = calls.find((call) => call.headers[HEADERS.toolCallId] === headers[HEADERS.toolCallId]);
      return command === undefined ? refuse("not_found", 404) : leased(command, clock.now() + 15_000);
    };
    link.offer(...calls);
    expect((await gateway.claim({ target: "text", max: 2, waitMs: 20_000 })).length).toBeGreaterThan(0);
    await settle();
    expect(log.entries.map(({ message }) => message)).toEqual(["a command could not be settled; it will come again"]);
  });
});

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
    const built = buildResult(
      {
        cardId: "card_r",
        createdAt: "2026-11-15T00:00:00Z",
        projectId: "demo",
        agentTurnId: "turn_1",
        toolCallId: "call_1",
        authorId: "tool.text",
        toolName: "count_words",
      },
      { status: "success", result: 3 },
    );
    await world.gateway.putCard(built.card);
    expect(asked(world)).toMatchObject({
      operation: "put_card",
      headers: { [HEADERS.toolCallId]: "call_1" },
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

  test.each([
    ["lease_lost", refuse("lease_lost", 409)],
    ["already_settled", refuse("already_settled", 409)],
    ["not_found", refuse("not_found", 404)],
  ])("[API-5-N6] %s is an answer and is not asked again", async (code, answer) => {
    const world = createWorld(() => answer);
    const work = world.gateway.settle(settlement, { until: () => Infinity });
    await expect(work).rejects.toMatchObject({ code });
    expect(world.link.questions).toHaveLength(1);
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

  test("[API-5-N1] parts are joined while a request is under way, and lost rather than waited for", async () => {
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const world = createWorld(async () => {
      await gate;
      return reply({ accepted: 1 }, 202);
    });
    const context = createContext({ projectId: "demo", agentId: "agent_a" });
    for (let index = 0; index < 4; index += 1) {
      world.gateway.sendParts({ context, ...held, parts: [{ index, part: index }] });
    }
    go();
    await until(() => world.link.questions.length === 2, "the rest is sent");
    expect(world.link.questions.map(({ operation, body }) => [operation, body])).toEqual([
      ["parts", { lease: "lease_1", parts: [{ index: 0, part: 0 }] }],
      ["parts", { lease: "lease_1", parts: [1, 2, 3].map((index) => ({ index, part: index })) }],
    ]);
    world.link.cut();
    world.gateway.sendParts({ context, ...held, parts: [{ index: 4, part: 4 }] });
    await until(() => world.log.entries.length === 1, "the loss is logged");
  });
});
