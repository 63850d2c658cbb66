// Limits that hold: what may be leased at once and how often, in two engines on one database. One database for all.

import type { Engine, LeasedCall } from "@toolplane/engine";
import type { ToolplaneError } from "@toolplane/protocol";
import { codeOf, resultFor, startTestEngine, type TestEngine, toolUpload, until } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const WAIT_MS = 60_000;
let t: TestEngine;
let other: Engine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
  other = await t.another();
});
afterAll(() => t[Symbol.asyncDispose]());

const register = (name: string, options: object, target = name) =>
  t.engine.tools.upsertTool(t.projectId, toolUpload({ name, target, options: options as Record<string, unknown> }));

const ask = (toolName: string, more: object = {}) =>
  t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {}, agentId: "sys.anna", ...more });

const askMany = (toolName: string, count: number, more: object = {}) =>
  Promise.all(Array.from({ length: count }, () => ask(toolName, more)));

const claim = (
  target: string,
  { engine = t.engine, max = 99, waitMs = 0, definitions = undefined as string[] | undefined } = {},
) => engine.calls.claim({ projectId: t.projectId, target, holder: "holder", max, definitions }, waitMs);

const settle = (call: LeasedCall | undefined) => t.engine.calls.settle(resultFor(call as LeasedCall));
/** Cancels a call, and says for its service that the run is over. */
const cancelOver = async ({ facts, lease }: LeasedCall): Promise<void> => {
  await t.engine.calls.cancel({ projectId: t.projectId, toolCallId: facts.toolCallId });
  expect(await codeOf(t.engine.calls.release({ ...facts, leaseId: lease.id }))).toBe("lease_lost");
};
const settleAll = (calls: readonly LeasedCall[]) => Promise.all(calls.map(settle));

test("[LIM-tool-1] claims of two processes at once take no more than the tool may run, and a freed slot wakes the next", async () => {
  await register("two", { concurrency: 2 });
  await askMany("two", 7);
  const taken = (
    await Promise.all([0, 1, 2, 3].map((n) => claim("two", { engine: n % 2 === 0 ? t.engine : other })))
  ).flat();
  expect(taken).toHaveLength(2);
  const waiting = claim("two", { engine: other, waitMs: WAIT_MS });
  await settle(taken[0]);
  const next = await waiting;
  expect(next).toHaveLength(1);
  expect(await claim("two")).toEqual([]);
  await cancelOver(taken[1] as LeasedCall);
  const third = await claim("two");
  expect(third).toHaveLength(1);
  await t.engine.calls.release({ ...(third[0] as LeasedCall).facts, leaseId: third[0]?.lease.id ?? "" });
  await settleAll(next);
  expect(await claim("two", { engine: other })).toHaveLength(2);
});

test("[LIM-tool-1] a service that waits in the same process, one of every project, and a command over a bus are held too", async () => {
  await register("one", { concurrency: 1 });
  const waiting = claim("one", { waitMs: WAIT_MS });
  const made = await askMany("one", 2);
  const [held] = await waiting;
  const left = made.find(({ toolCallId }) => toolCallId !== held?.facts.toolCallId);
  expect(await t.engine.calls.claimAcross({ target: "one", holder: "every", max: 5 })).toEqual([]);
  const command = {
    projectId: t.projectId,
    toolCallId: left?.toolCallId ?? "",
    agentTurnId: left?.agentTurnId ?? "",
    callCardId: left?.callCardId ?? "",
    holder: "nats",
  };
  expect(await codeOf(other.calls.lease(command))).toBe("lease_lost");
  await settle(held);
  const leased = await other.calls.lease(command);
  expect(leased.facts.toolCallId).toBe(left?.toolCallId);
  const [third] = await askMany("one", 1);
  expect(await t.engine.calls.claimAcross({ target: "one", holder: "every", max: 5 })).toEqual([]);
  await cancelOver(leased);
  const [across] = await t.engine.calls.claimAcross({ target: "one", holder: "every", max: 5 }, WAIT_MS);
  expect(across?.facts.toolCallId).toBe(third?.toolCallId);
});

test("[LIM-tool-2] a dead holder's slot is free when its lease has lapsed", async () => {
  await register("lapsing", { concurrency: 1, retry: "safe" });
  const dying = await t.another({ leaseSeconds: 0.05 });
  await askMany("lapsing", 3);
  for (let death = 0; death < 3; death++) {
    let taken: readonly LeasedCall[] = [];
    await until("a free slot", async () => {
      await t.engine.expire();
      taken = await claim("lapsing", { engine: dying });
      return taken.length > 0;
    });
    expect(taken).toHaveLength(1);
    expect(await claim("lapsing")).toEqual([]);
  }
});

test("[LIM-tool-3] a rate lets its burst pass, and then one call whenever a token is there", async () => {
  await register("slow", { rate: { limit: 1, per_seconds: 3_600, burst: 2 } });
  await askMany("slow", 5);
  expect(await claim("slow")).toHaveLength(2);
  expect(await claim("slow", { engine: other })).toEqual([]);
  // A token every 200 ms: the 100 ms of lateness that are made up (decision 0051) are less than one.
  await register("quick", { rate: { limit: 5, per_seconds: 1 } });
  await askMany("quick", 3);
  for (let one = 0; one < 3; one++)
    expect(await claim("quick", { engine: one === 1 ? other : t.engine, waitMs: WAIT_MS })).toHaveLength(1);
});

test("[LIM-tool-3] a command over a bus is told when a token is there for it, each a token later", async () => {
  await register("told", { rate: { limit: 2, per_seconds: 1_000 } }); // No token comes while a busy machine tries.
  const made = await askMany("told", 3);
  const tries = made.map(({ toolCallId, agentTurnId, callCardId }) =>
    t.engine.calls.lease({ projectId: t.projectId, toolCallId, agentTurnId, callCardId, holder: "nats" }),
  );
  const refused = (await Promise.allSettled(tries)).flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  expect(refused.map(({ code, detail }) => [code, detail.status])).toEqual(Array(2).fill(["lease_lost", "queued"]));
  const [first, second] = refused.map(({ detail }) => Number(detail.retry_after_ms)).sort((a, b) => a - b);
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(500_002);
  expect(second).toBeGreaterThan(Number(first));
});

test("[LIM-tool-4] calls of sessions keep their order, pinned ones their version, and none has a result without a lease", async () => {
  await register("spoken", { concurrency: 5, session: "agent" });
  const [first] = await askMany("spoken", 1);
  await askMany("spoken", 1);
  await ask("spoken", { agentId: "sys.berta" });
  const taken = await claim("spoken");
  expect(taken).toHaveLength(2);
  expect(taken.map(({ facts }) => facts.toolCallId)).toContain(first?.toolCallId);
  await settleAll(taken);
  expect(await claim("spoken")).toHaveLength(1);
  const { definitionHash } = await register("strict", { concurrency: 1, pin: "strict" });
  const [pinned] = await askMany("strict", 2);
  expect(await claim("strict")).toEqual([]);
  expect(await claim("strict", { definitions: [definitionHash] })).toHaveLength(1);
  const forged = {
    projectId: t.projectId,
    actorId: "tool.strict",
    outcome: { given: { status: "success", result: 1 } },
  };
  const open = await t.engine.calls.list(t.projectId, { toolName: "strict", status: "queued" });
  expect(pinned).toBeDefined();
  expect(await codeOf(t.engine.calls.settle({ ...forged, toolCallId: open[0]?.toolCallId ?? "" }))).toBe("lease_lost");
});

test("[LIM-tool-5] a limit holds for the calls that are open when it is set, raised or taken away", async () => {
  await register("late", {});
  await askMany("late", 6);
  const running = await claim("late", { max: 2 });
  await register("late", { concurrency: 2 });
  expect(await claim("late", { engine: other })).toEqual([]);
  const waiting = claim("late", { engine: other, waitMs: WAIT_MS });
  await register("late", { concurrency: 3 });
  expect(await waiting).toHaveLength(1);
  await register("late", {});
  expect(await claim("late")).toHaveLength(3);
  await settleAll(running);
  const retry_policy = { attempts: 2, backoff_seconds: 1 };
  expect(await codeOf(register("plain", { retry: "safe", retry_policy, service: "plain" }))).toBe("bad_request");
});

test("[LIM-project-1] the slots of a project are shared by its tools, and the plane's own managers take none", async () => {
  const projectId = "small";
  await t.engine.projects.createProject({ project_id: projectId, title: "Small", bootstrap: false }, "sys.test");
  for (const name of ["left", "right"])
    await t.engine.tools.upsertTool(projectId, toolUpload({ name, target: "both", options: {} }));
  const make = (toolName: string) => t.engine.calls.dispatch({ projectId, toolName, arguments: {} });
  await make("left");
  await t.engine.projects.patchProject(projectId, { limits: { concurrency: 2 } });
  await Promise.all(["left", "left", "right"].map(make));
  const take = (engine: Engine) => engine.calls.claim({ projectId, target: "both", holder: "h", max: 9 });
  const taken = (await Promise.all([take(t.engine), take(other)])).flat();
  expect(taken).toHaveLength(2);
  await settle(taken[0]);
  expect(await take(other)).toHaveLength(1);
  await t.engine.projects.patchProject(projectId, { limits: { concurrency: null } });
  expect(await take(other)).toHaveLength(1);
  expect(await t.engine.projects.getProject(projectId)).toMatchObject({ limits: { concurrency: null } });
});

test("[LIM-project-2] the rate and the queue of a project refuse, and say when to come back", async () => {
  const projectId = "strict-project";
  await t.engine.projects.createProject({ project_id: projectId, title: "Strict", bootstrap: false }, "sys.test");
  await t.engine.tools.upsertTool(projectId, toolUpload({ name: "any", options: {} }));
  await t.engine.projects.patchProject(projectId, { limits: { rate: { limit: 3, per_seconds: 3_600 } } });
  const make = (engine: Engine, idempotencyKey?: string) =>
    engine.calls.dispatch({ projectId, toolName: "any", arguments: {}, idempotencyKey });
  const first = await make(t.engine, "key");
  const rest = await Promise.allSettled([make(t.engine), make(other), make(other), make(t.engine)]);
  expect(rest.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  const refused = rest.find((one) => one.status === "rejected");
  expect(refused?.reason).toMatchObject({ code: "rate_limited", detail: { limit: "rate" } });
  // A token comes every 1,200 s.
  expect(refused?.reason.detail.retry_after_seconds).toBeGreaterThan(1_100);
  expect((await make(other, "key")).toolCallId).toBe(first.toolCallId);
  // A wrong call hears what is wrong with it: waiting would not help it.
  const wrong = (ask: object) => t.engine.calls.dispatch({ projectId, toolName: "any", arguments: {}, ...ask });
  expect(await codeOf(wrong({ toolName: "unknown" }))).toBe("not_found");
  expect(await codeOf(wrong({ arguments: "no object" }))).toBe("bad_request");
  await t.engine.projects.patchProject(projectId, { limits: { rate: null, queue: 4 } });
  await make(t.engine);
  // The other process has heard of the new limit when it refuses because of the queue.
  const limitOf = (): Promise<unknown> => make(other).catch((error: ToolplaneError) => error.detail?.limit);
  await expect.poll(limitOf).toBe("queue");
  await t.engine.calls.claim({ projectId, target: "test", holder: "h", max: 1 });
  await make(other);
});

const agentsOf = (calls: readonly LeasedCall[]): string => calls.map(({ facts }) => facts.agentId.slice(4, 5)).join("");

test.each([
  ["unlimited", {}],
  ["limited", { concurrency: 100 }],
])("[LIM-fair-1] the call of one agent does not wait for the many of another: %s", async (name, options) => {
  const target = `fair_${name}`;
  await register(target, options);
  await askMany(target, 20, { agentId: "sys.anna" });
  await askMany(target, 1, { agentId: "sys.zoe" });
  expect(
    agentsOf([...(await claim(target, { max: 1 })), ...(await claim(target, { max: 1 }))])
      .split("")
      .sort(),
  ).toEqual(["a", "z"]);
  await askMany(target, 2, { agentId: "sys.zoe" });
  await askMany(target, 2, { agentId: "sys.mia" });
  expect(
    agentsOf(await claim(target, { max: 3 }))
      .split("")
      .sort()
      .join(""),
  ).toBe("amz");
  // What others leave goes to the one who has more: nothing is left behind.
  expect(await claim(target, { max: 99 })).toHaveLength(20);
});

const failWith = (call: LeasedCall | undefined, error: object) =>
  t.engine.calls.settle(resultFor(call as LeasedCall, { status: "failed", result: null, error }));
const BUSY = { code: "upstream_unavailable", message: "busy" };

test("[LIM-retry-2] a failed attempt waits as a row and is counted; the last one is the result", async () => {
  const policy = { attempts: 3, backoff_seconds: 0 };
  await register("again", { retry: "safe", retry_policy: policy });
  const [made] = await askMany("again", 1);
  const key = { projectId: t.projectId, toolCallId: made?.toolCallId ?? "" };
  for (let attempt = 1; attempt < 3; attempt++) {
    const [call] = await claim("again", { engine: attempt === 1 ? t.engine : other });
    expect(call?.attempt).toBe(attempt);
    expect(await failWith(call, BUSY)).toMatchObject({ status: "queued", retryAt: expect.any(Date) });
    expect(await t.engine.calls.get(key)).toMatchObject({ status: "queued", attempts: attempt, leaseId: null });
    // The lease is over: its holder cannot change the call any more.
    expect(await codeOf(settle(call))).toBe("lease_lost");
  }
  const [last] = await claim("again");
  expect(await failWith(last, BUSY)).toMatchObject({ status: "failed" });
  const view = await t.engine.calls.get(key);
  expect(view).toMatchObject({ status: "failed", attempts: 3, errorCode: "upstream_unavailable" });
  const leases = await t.engine.calls.leases(view);
  expect(leases.map(({ attempt, ended, errorCode }) => [attempt, ended, errorCode])).toEqual([
    [1, "failed", "upstream_unavailable"],
    [2, "failed", "upstream_unavailable"],
    [3, "settled", "upstream_unavailable"],
  ]);
});

test("[LIM-retry-1] the other side's pause is kept, other codes and unsafe tools are not tried again", async () => {
  await register("asked", { retry: "safe", retry_policy: { attempts: 9, backoff_seconds: 1 } });
  await askMany("asked", 2);
  const [slow, wrong] = await claim("asked");
  const { retryAt } = await failWith(slow, { ...BUSY, code: "rate_limited", detail: { retry_after_seconds: 600 } });
  expect(Number(retryAt) - (await t.engine.databaseNow())).toBeGreaterThan(500_000);
  expect(await claim("asked")).toEqual([]);
  expect(await failWith(wrong, { code: "tool_error", message: "no" })).toMatchObject({ status: "failed" });
  expect(await codeOf(register("unsafe", { retry_policy: { attempts: 2, backoff_seconds: 1 } }))).toBe("bad_request");
  const unknown = { attempts: 2, backoff_seconds: 1, codes: ["rate_limited", "outcome_unknown"] };
  expect(await codeOf(register("unknown", { retry: "safe", retry_policy: unknown }))).toBe("bad_request");
});

test("[LIM-break-2] failures open the breaker for every process, and a trial closes it", async () => {
  const breaker = { failure_rate: 0.5, window_seconds: 600, open_seconds: 600 };
  const failFive = async (name: string): Promise<void> => {
    await askMany(name, 8);
    for (const call of await claim(name, { max: 5 })) await failWith(call, BUSY);
  };
  await register("broken", { breaker });
  await failFive("broken");
  expect(await claim("broken", { engine: other })).toEqual([]);
  const refused = other.calls.dispatch({ projectId: t.projectId, toolName: "broken", arguments: {} });
  await expect(refused).rejects.toMatchObject({ code: "breaker_open", detail: { closes_at: expect.any(String) } });
  await register("shaky", { breaker: { ...breaker, open_seconds: 0.05 } });
  // A run that began before the breaker opened is not a trial, and its end decides nothing.
  await askMany("shaky", 1);
  const old = await claim("shaky", { max: 1 });
  await failFive("shaky");
  const trial = await claim("shaky", { engine: other, waitMs: WAIT_MS });
  expect(trial).toHaveLength(1);
  expect(await claim("shaky")).toEqual([]);
  await settleAll(old);
  expect(await claim("shaky")).toEqual([]);
  await settleAll(trial);
  expect(await claim("shaky")).toHaveLength(2);
});

test("[LIM-break-3] the runs of all tools of a target open its breaker in every process; other targets go on", async () => {
  const projectId = "broken-target";
  await t.engine.projects.createProject({ project_id: projectId, title: "Broken", bootstrap: false }, "sys.test");
  for (const [name, target] of [
    ["left", "both"],
    ["right", "both"],
    ["apart", "apart"],
  ] as const)
    await t.engine.tools.upsertTool(projectId, toolUpload({ name, target, options: {} }));
  const make = (toolName: string, engine = other) => engine.calls.dispatch({ projectId, toolName, arguments: {} });
  const take = (target: string, engine = t.engine, waitMs = 0, max = 5) =>
    engine.calls.claim({ projectId, target, holder: "h", max }, waitMs);
  const breaker = { failure_rate: 0.5, window_seconds: 600, open_seconds: 600 };
  // Also calls that were made before the limit count.
  await Promise.all(["left", "right", "left", "right"].map((name) => make(name)));
  await t.engine.projects.patchProject(projectId, { limits: { target_breaker: breaker } });
  await Promise.all(["left", "right", "left", "right"].map((name) => make(name)));
  for (const call of await take("both")) await failWith(call, BUSY);
  const closes_at = expect.any(String);
  // The other process hears of the project's limits by a bell; calls before it are queued.
  await expect.poll(() => codeOf(make("left"))).toBe("breaker_open");
  await expect(make("left")).rejects.toMatchObject({
    code: "breaker_open",
    message: expect.stringMatching(/^the breaker of target both has been open since /),
    detail: { of: "target both", closes_at, retry_after_seconds: expect.any(Number) },
  });
  expect(await take("both", other)).toEqual([]);
  const queued = await t.engine.calls.list(projectId, { status: "queued" });
  const [waiting] = queued;
  expect(await other.calls.heldBack({ projectId, toolCallId: waiting?.toolCallId ?? "" })).toMatchObject({
    target: "both",
    blockedBy: "breaker",
    openedAt: expect.any(Date),
    nextAt: expect.any(Date),
  });
  expect((await t.engine.depths()).openBreakers).toBeGreaterThanOrEqual(1);
  expect(await other.limits.list(projectId)).toMatchObject([
    { toolName: undefined, target: undefined, limits: { target_breaker: breaker }, heldBy: undefined },
    { toolName: undefined, target: "both", heldBy: "breaker", openedAt: expect.any(Date), nextAt: expect.any(Date) },
  ]);
  await make("apart");
  expect(await take("apart", other)).toHaveLength(1);
  await t.engine.projects.patchProject(projectId, { limits: { target_breaker: null } });
  expect(await take("both", other, 0, 50)).toHaveLength(queued.length);
});

test("[LIM-break-3] a target lets one call through as a trial, and its success closes the breaker", async () => {
  const projectId = "tried-target";
  await t.engine.projects.createProject({ project_id: projectId, title: "Tried", bootstrap: false }, "sys.test");
  for (const name of ["left", "right"])
    await t.engine.tools.upsertTool(projectId, toolUpload({ name, target: "both", options: {} }));
  const target_breaker = { failure_rate: 0.5, window_seconds: 600, open_seconds: 0.05 };
  await t.engine.projects.patchProject(projectId, { limits: { target_breaker } });
  await Promise.all(
    Array.from({ length: 9 }, (_, n) =>
      t.engine.calls.dispatch({ projectId, toolName: n % 2 === 0 ? "left" : "right", arguments: {} }),
    ),
  );
  const take = (engine: Engine, max: number, waitMs = 0) =>
    engine.calls.claim({ projectId, target: "both", holder: "h", max }, waitMs);
  // A run that began before the breaker opened is not a trial, however long it takes.
  expect(await take(t.engine, 1)).toHaveLength(1);
  for (const call of await take(t.engine, 5)) await failWith(call, BUSY);
  const trial = await take(other, 5, WAIT_MS);
  expect(trial).toHaveLength(1);
  expect(await take(t.engine, 5)).toEqual([]);
  await settleAll(trial);
  expect(await take(t.engine, 5)).toHaveLength(2);
});
