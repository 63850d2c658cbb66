import { HEADERS, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { settle, until } from "../../test/manual-clock.ts";
import { createNatsWorld as createWorld, START } from "../../test/nats-world.ts";
import { sampleCall, TRACEPARENT } from "../../test/sample-call.ts";
import { leased, refuse, reply } from "../../test/scripted-link.ts";

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
    expect(link.attached).toEqual(["cg.v1r4.demo.public.rpc.gateway.text.attach"]);
    expect(link.durables).toEqual(["tool_text__demo"]);
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
          [HEADERS.stepId]: "step_1",
          [HEADERS.toolCallId]: "call_1",
          [HEADERS.recursionDepth]: "1",
          [HEADERS.traceparent]: TRACEPARENT,
        },
        body: { ...(command.payload as object), holder: "text@here:1", ticket: expect.any(String) },
      },
    ]);
    expect(claimed).toEqual([
      {
        ...command,
        attempt: 1,
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
    ["not due", refuse("lease_lost", 409, { status: "queued" }), "nak 100"],
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

  test.each([
    ["no after_execution", { payload: { tool_call_card_id: "card_call_1", tool_name: "count_words" } }, "UTP-C45"],
    ["a list as payload", { payload: [1] }, "UTP-C13"],
    ["a depth that is none", { headers: { [HEADERS.recursionDepth]: "-1" } }, "UTP-C46"],
    ["another channel", { headers: { [HEADERS.channelId]: "else" } }, "UTP-C44"],
  ])("[DOOR-3-1] a command with %s is terminated without asking the gateway", async (_name, options, clause) => {
    const { link, gateway, log } = createWorld();
    const [bad] = link.offer(sampleCall(options).command);
    const given = new AbortController();
    const claim = gateway.claim({ target: "text", max: 1, waitMs: 20_000 }, given.signal);
    await until(() => bad?.said.length === 1, "it is terminated");
    given.abort();
    expect(await claim).toEqual([]);
    expect(bad?.said[0]).toMatch(new RegExp(`^term ${clause}: `));
    expect(link.questions).toEqual([]);
    expect(log.entries).toMatchObject([{ level: "warn", fields: { clause } }]);
  });

  test("[DOOR-3-1] a command that contradicts its call is terminated, and the log has the clause that the gateway names", async () => {
    const { link, gateway, log } = createWorld(() => refuse("protocol_violation", 400, { clause: "utp 2.7" }));
    const [bad] = link.offer(sampleCall().command);
    const given = new AbortController();
    const claim = gateway.claim({ target: "text", max: 1, waitMs: 20_000 }, given.signal);
    await until(() => bad?.said.length === 1, "it is terminated");
    given.abort();
    expect(await claim).toEqual([]);
    expect(bad?.said[0]).toMatch(/^term /);
    expect(log.entries).toMatchObject([{ level: "warn", fields: { clause: "utp 2.7" } }]);
  });

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
    ["the answer is not JSON", { headers: {}, payload: "<html>" }, "upstream_unavailable"],
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

  test("[API-5-N9] a lease whose answer was lost is asked for again under the same ticket, another command under another", async () => {
    const { link, gateway, clock } = createWorld();
    const { command } = sampleCall();
    const other = sampleCall({ callId: "call_2", leaseId: "lease_2" }).command;
    const lost = new ToolplaneError("upstream_unavailable", "no answer", { detail: { reason: "timeout" } });
    let asked = 0;
    link.answer = ({ headers }) => {
      if (headers[HEADERS.toolCallId] === "call_2") return leased(other, START + 15_000);
      asked += 1;
      if (asked === 1) throw lost;
      return leased(command, START + 15_000);
    };
    const [first] = link.offer(command, other);
    const claim = gateway.claim({ target: "text", max: 2, waitMs: 20_000 });
    await until(() => link.questions.length === 2, "both were asked for");
    await clock.advance(500);
    expect(await claim).toHaveLength(2);
    const tickets = link.questions.map(({ headers, body }) => [headers[HEADERS.toolCallId], body.ticket]);
    expect(tickets[0]).toEqual(tickets[2]);
    expect(tickets[1]?.[1]).not.toBe(tickets[0]?.[1]);
    expect(first?.said).toEqual(["ack"]);
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

  test("[SEE-14] a service that fetches names itself about every twenty seconds; to an earlier plane, which refuses the name, it does not", async () => {
    const { link, gateway, clock } = createWorld();
    const definitions = ["hash_1"];
    const look = () => gateway.claim({ target: "text", max: 1, waitMs: 0, definitions });
    await look();
    await look();
    await clock.advance(21_000);
    await look();
    const named = { target: "text", holder: "text@here:1", definitions };
    expect(link.attachBodies).toEqual([named, named]);
    link.refuseNames = refuse("bad_request", 400);
    await clock.advance(21_000);
    await look();
    await clock.advance(60_000);
    await look();
    expect(link.attachBodies.slice(2)).toEqual([named, { target: "text" }]);
  });

  test("[API-5-N5] a service attaches before its first fetch, after NATS was away, after a failed fetch, and now and then", async () => {
    const { link, gateway, clock } = createWorld();
    const { command } = sampleCall();
    link.answer = () => leased(command, clock.now() + 15_000);
    const claimOne = () => {
      link.offer(command);
      return gateway.claim({ target: "text", max: 1, waitMs: 20_000 });
    };
    await claimOne();
    await claimOne();
    expect(link.attached).toHaveLength(1);
    link.cut();
    link.mend();
    await claimOne();
    expect(link.attached).toHaveLength(2);
    link.failFetch = new ToolplaneError("upstream_unavailable", "the durable does not answer");
    await expect(claimOne()).rejects.toMatchObject({ code: "upstream_unavailable" });
    await claimOne();
    expect(link.attached).toHaveLength(3);
    await clock.advance(6 * 60_000);
    await claimOne();
    expect(link.attached).toHaveLength(4);
  });

  test("[API-5-N5] what the plane says against it is the claim's failure, and nothing is fetched", async () => {
    const { link, gateway } = createWorld();
    link.refuseAttach = refuse("auth_failed", 403);
    const claim = gateway.claim({ target: "text", max: 1, waitMs: 20_000 });
    await expect(claim).rejects.toMatchObject({ code: "auth_failed" });
    expect(link.fetches).toEqual([]);
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
