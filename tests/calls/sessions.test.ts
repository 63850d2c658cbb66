import type { Engine, LeasedCall } from "@toolplane/engine";
import type { Dispatched } from "@toolplane/engine/internal";
import { codeOf, letPass, meddle, resultFor, startTestEngine, type TestEngine, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";

const TOOLS = [
  { name: "mine", options: { session: "agent", retry: "safe" } },
  { name: "named", options: { session: "argument" } },
  { name: "other_host", target: "other", options: { session: "agent" } },
  { name: "free", options: {} },
];

const start = (): Promise<TestEngine> => startTestEngine({ tools: TOOLS });

const ask = async (t: TestEngine, toolName: string, agentId = "sys.anna", args: Record<string, unknown> = {}) =>
  (await t.engine.calls.dispatch({ projectId: t.projectId, toolName, agentId, arguments: args })).toolCallId;

const claim = (t: TestEngine, max = 10, target = "test", engine: Engine = t.engine) =>
  engine.calls.claim({ projectId: t.projectId, target, holder: "h", max });

const claimOne = async (t: TestEngine, target = "test"): Promise<LeasedCall> => {
  const taken = await claim(t, 10, target);
  expect(taken).toHaveLength(1);
  return taken[0] ?? expect.unreachable();
};

const settle = (t: TestEngine, call: LeasedCall, sessionState?: unknown, given: Record<string, unknown> = {}) =>
  t.engine.calls.settle(resultFor(call, { ...given, sessionState } as Parameters<typeof resultFor>[1]));

test("[HOST-4-14] a settlement writes the state, and the next lease of the session brings it", async () => {
  await using t = await start();
  await ask(t, "mine");
  const first = await claimOne(t);
  expect(first.session).toBeUndefined();
  await settle(t, first, { n: 1, deep: { list: [1, null, "ä"] } });
  await ask(t, "mine");
  const second = await claimOne(t);
  expect(second.session).toEqual({ n: 1, deep: { list: [1, null, "ä"] } });
  await settle(t, second);
  await ask(t, "mine");
  expect((await claimOne(t)).session).toEqual({ n: 1, deep: { list: [1, null, "ä"] } });
});

test("[HOST-4-14] project, agent, host and alias each have a state of their own", async () => {
  await using t = await start();
  const places: [string, string, Record<string, unknown>, string][] = [
    ["mine", "sys.anna", {}, "test"],
    ["mine", "sys.bert", {}, "test"],
    ["named", "sys.anna", { session_id: "one" }, "test"],
    ["named", "sys.anna", { session_id: "two" }, "test"],
    ["named", "sys.bert", { session_id: "one" }, "test"],
    ["other_host", "sys.anna", {}, "other"],
  ];
  for (const [index, [tool, agent, args, target]] of places.entries()) {
    await ask(t, tool, agent, args);
    const call = await claimOne(t, target);
    expect(call.session).toBeUndefined();
    await settle(t, call, { index });
  }
  for (const [index, [tool, agent, args, target]] of places.entries()) {
    await ask(t, tool, agent, args);
    const call = await claimOne(t, target);
    expect(call.session).toEqual({ index });
    await settle(t, call);
  }
});

test("[HOST-4-15] calls of one session run one after the other, in their order, beside those of others", async () => {
  await using t = await start();
  const ids = [await ask(t, "mine"), await ask(t, "mine"), await ask(t, "mine")];
  await ask(t, "mine", "sys.bert");
  const taken = await claim(t);
  expect(taken.map(({ facts }) => [facts.agentId, facts.toolCallId === ids[0]])).toEqual([
    ["sys.anna", true],
    ["sys.bert", false],
  ]);
  expect(await claim(t)).toEqual([]);
  for (const [index, id] of ids.entries()) {
    const held = index === 0 ? taken[0] : await claimOne(t);
    expect(held?.facts.toolCallId).toBe(id);
    if (held !== undefined) await settle(t, held, { index });
  }
});

test("[HOST-4-15] whatever ends or returns a call lets the next one of its session run", async () => {
  await using t = await start();
  const waiting = await ask(t, "mine");
  const ends: Record<string, (call: LeasedCall) => Promise<unknown>> = {
    released: (call) => t.engine.calls.release({ ...call.facts, leaseId: call.lease.id }),
    failed: (call) => settle(t, call, { bad: true }, { status: "failed", error: "no" }),
    canceled: (call) => t.engine.calls.cancel(call.facts),
    "timed out": async (call) => {
      await letPass(t, call.facts.toolCallId, "run");
      await t.engine.expire();
    },
  };
  const first = await claimOne(t);
  await settle(t, first, { good: true });
  for (const [name, end] of Object.entries(ends)) {
    await ask(t, "mine");
    const call = await claimOne(t);
    expect(call.session, name).toEqual({ good: true });
    expect(await claim(t), name).toEqual([]);
    await end(call);
  }
  // The released one is still open; nothing that ended badly changed the state.
  const last = await claimOne(t);
  expect(last.session).toEqual({ good: true });
  expect(first.facts.toolCallId).toBe(waiting);
});

test("[HOST-4-15] a waiting claim hears of the next call when the one before it settles", async () => {
  await using t = await start();
  await ask(t, "mine");
  await ask(t, "mine");
  const first = await claimOne(t);
  const next = t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 }, 20_000);
  await settle(t, first, { n: 1 });
  expect((await next)[0]?.session).toEqual({ n: 1 });
});

test("[HOST-4-16] without an alias nothing is serialised and nothing is kept", async () => {
  await using t = await start();
  for (let index = 0; index < 3; index++) await ask(t, "free");
  for (let index = 0; index < 3; index++) await ask(t, "named");
  const taken = await claim(t);
  expect(taken).toHaveLength(6);
  for (const call of taken) {
    expect(call.session).toBeUndefined();
    await settle(t, call, { dropped: true });
  }
  const kept = await withClient(t, async (client) => (await client.query("select 1 from state.sessions")).rowCount);
  expect(kept).toBe(0);
});

test.each([
  ["no JSON", { n: Number.NaN }, "result_not_serializable"],
  ["NUL", { text: "a\u0000b" }, "result_not_serializable"],
  ["a lone surrogate", { text: "\ud800" }, "result_not_serializable"],
  ["no object", [1], "result_not_serializable"],
  ["too large", { text: "x".repeat(20_000_000) }, "result_too_large"],
])("[HOST-4-14] a state that cannot be kept (%s) fails its call and changes nothing", async (_what, state, code) => {
  await using t = await start();
  await ask(t, "mine");
  await settle(t, await claimOne(t), { n: 1 });
  const id = await ask(t, "mine");
  const held = await claimOne(t);
  await settle(t, held, state);
  expect(await t.engine.calls.get({ projectId: t.projectId, toolCallId: id })).toMatchObject({
    status: "failed",
    errorCode: code,
  });
  await ask(t, "mine");
  expect((await claimOne(t)).session).toEqual({ n: 1 });
});

test("[HOST-4-15] nobody but the holder of the lease changes the state: not a late zombie, not a report without a lease", async () => {
  await using t = await start();
  await ask(t, "mine");
  const zombie = await claimOne(t);
  await letPass(t, zombie.facts.toolCallId, "lease");
  await t.engine.expire();
  expect(await codeOf(settle(t, zombie, { zombie: true }))).toBe("lease_lost");
  const unleased = { ...resultFor(zombie, { sessionState: { stranger: true } } as object), leaseId: undefined };
  await t.engine.calls.settle(unleased);
  await ask(t, "mine");
  expect((await claimOne(t)).session).toBeUndefined();
});

test("[HOST-4-15] a command over the bus cannot lease a second call of a busy session", async () => {
  await using t = await start();
  const made: Dispatched[] = [];
  for (let index = 0; index < 2; index++)
    made.push(
      await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "mine", agentId: "sys.anna", arguments: {} }),
    );
  const lease = (index: number) =>
    t.engine.calls.lease({ projectId: t.projectId, holder: "h", ...(made[index] ?? expect.unreachable()) });
  // While two others travel, the two of the session wait for the same flush: there the index keeps them apart.
  const others = [await ask(t, "free"), await ask(t, "free")];
  const travelling = others.map(async (toolCallId) => {
    const { agentTurnId, callCardId } = await t.engine.calls.facts({ projectId: t.projectId, toolCallId });
    return { projectId: t.projectId, toolCallId, agentTurnId, callCardId, holder: "h" };
  });
  const leases = (await Promise.all(travelling)).map((request) => t.engine.calls.lease(request));
  const both = await Promise.allSettled([lease(0), lease(1)]);
  await Promise.all(leases);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const held = both.find((one) => one.status === "fulfilled")?.value ?? expect.unreachable();
  await settle(t, held, { n: 1 });
  expect((await lease(held.facts.toolCallId === made[0]?.toolCallId ? 1 : 0)).session).toEqual({ n: 1 });
});

test("[HOST-4-15] many engines, many sessions: every session counts its calls exactly, one live lease at a time", async () => {
  await using t = await start();
  const engines = [t.engine, await t.another(), await t.another()];
  const SESSIONS = 8;
  const EACH = 12;
  const asked = Array.from({ length: SESSIONS * EACH }, (_, index) =>
    ask(t, "named", "sys.anna", { session_id: `s${index % SESSIONS}` }),
  );
  let open = SESSIONS * EACH;
  const live = new Set<string>();
  const serve = async (engine: Engine): Promise<void> => {
    while (open > 0) {
      const calls = await engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 3 }, 200);
      await Promise.all(
        calls.map(async (call) => {
          const session = call.facts.session ?? "";
          expect(live.has(session)).toBe(false);
          live.add(session);
          await new Promise((resolve) => setImmediate(resolve));
          live.delete(session);
          const n = Number(call.session?.n ?? 0) + 1;
          await engine.calls.settle(resultFor(call, { sessionState: { n } } as object));
          open -= 1;
        }),
      );
    }
  };
  await Promise.all([...asked, ...engines.map(serve)]);
  const rows = await withClient(
    t,
    async (client) => (await client.query("select state, calls::int from state.sessions")).rows,
  );
  expect(rows).toEqual(Array.from({ length: SESSIONS }, () => ({ state: `{"n":${EACH}}`, calls: EACH })));
});

test("[HOST-4-15] sessions and calls of none take turns when not all fit", async () => {
  await using t = await start();
  for (let index = 0; index < 4; index++) {
    await ask(t, "free");
    await ask(t, "named", "sys.anna", { session_id: `s${index}` });
  }
  const order: boolean[] = [];
  for (let index = 0; index < 8; index++) {
    const [call, ...more] = await claim(t, 1);
    expect(more).toEqual([]);
    order.push(call?.facts.session === null);
  }
  expect(order.filter(Boolean)).toHaveLength(4);
  expect(order.slice(0, 4)).toContain(true);
  expect(order.slice(0, 4)).toContain(false);
});

test.each([[7], [["a"]], ["x".repeat(201)], ["a\u0000"]])("a session_id of %j is refused", async (session_id) => {
  await using t = await start();
  expect(await codeOf(ask(t, "named", "sys.anna", { session_id }))).toBe("bad_request");
});

test("sessions nobody continued are forgotten with the rest, and all of them with their project", async () => {
  await using t = await start();
  for (const agent of ["sys.anna", "sys.bert"]) {
    await ask(t, "mine", agent);
    await settle(t, await claimOne(t), { n: 1 });
  }
  const count = () => withClient(t, async (client) => (await client.query("select 1 from state.sessions")).rowCount);
  await meddle(t, "ageSession");
  expect(await t.engine.retain({ seconds: 86_400 })).toMatchObject({ sessions: 1 });
  expect(await count()).toBe(1);
  await t.engine.projects.deleteProject(t.projectId, { force: true });
  expect(await count()).toBe(0);
});
