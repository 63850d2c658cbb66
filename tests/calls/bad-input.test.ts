// Bad input, each a typed result; where nothing may happen, the whole database is compared before and after.

import { type LeasedCall, systemClock } from "@toolplane/engine";
import { codeOf, dispatchAndClaim, fingerprint, resultFor, startTestEngine, type TestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

const refused = async (t: TestEngine, work: () => Promise<unknown>): Promise<string> => {
  const before = await fingerprint(t);
  const code = await codeOf(work());
  expect(await fingerprint(t)).toBe(before);
  return code;
};

const deep = (levels: number): unknown => (levels === 0 ? 1 : { n: deep(levels - 1) });

test("[ENG-bad-arguments] arguments that are too large, too deep, no object, or no JSON are refused and nothing is written", async () => {
  await using t = await startTestEngine();
  const call = (args: unknown) => () =>
    t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: args });
  expect(await refused(t, call({ text: "x".repeat(2 * 1024 * 1024) }))).toBe("payload_too_large");
  expect(await refused(t, call(deep(100)))).toBe("bad_request");
  expect(await refused(t, call({ text: "a\u0000b" }))).toBe("bad_request");
  expect(await refused(t, call({ text: "\ud800" }))).toBe("bad_request");
  expect(await refused(t, call([1, 2]))).toBe("bad_request");
  expect(await refused(t, call("{not json"))).toBe("bad_request");
});

test("[ENG-bad-target] [UTP-8.10-1] [UTP-8.10-4] an unknown project, tool or caller is refused by name and nothing is written", async () => {
  await using t = await startTestEngine();
  const ask = { projectId: t.projectId, toolName: "safe", arguments: {} };
  expect(await refused(t, () => t.engine.calls.dispatch({ ...ask, projectId: "nobody" }))).toBe("not_found");
  expect(await refused(t, () => t.engine.calls.dispatch({ ...ask, toolName: "nothing" }))).toBe("not_found");
  expect(await refused(t, () => t.engine.calls.dispatch({ ...ask, agentId: "stranger" }))).toBe("invalid_source_actor");
});

test("[ENG-schema] arguments that break the tool's schema are refused, naming the place", async () => {
  const parameters = {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  };
  await using t = await startTestEngine({ tools: [{ name: "strict", parameters }] });
  const call = (args: unknown) =>
    t.engine.calls.dispatch({ projectId: t.projectId, toolName: "strict", arguments: args });
  expect(await refused(t, () => call({ n: "one" }))).toBe("bad_request");
  expect(await refused(t, () => call({}))).toBe("bad_request");
  expect(await refused(t, () => call({ n: 1, m: 2 }))).toBe("bad_request");
  await expect(call({ n: "one" })).rejects.toThrow(/\$\.n|\/n/);
});

test("[INV-I1-unstorable] a result that cannot be stored settles the call as failed, never leaves it open", async () => {
  await using t = await startTestEngine();
  const cases: readonly (readonly [unknown, string])[] = [
    [{ text: "a\u0000b" }, "result_not_serializable"],
    [{ text: "\ud800" }, "result_not_serializable"],
    [{ n: Number.NaN }, "result_not_serializable"],
    [deep(100), "result_not_serializable"],
    ["x".repeat(20 * 1024 * 1024), "result_too_large"],
  ];
  for (const [result, code] of cases) {
    const call = await dispatchAndClaim(t, "safe");
    await t.engine.calls.settle(resultFor(call, { result }));
    expect(await t.engine.calls.get(call.facts)).toMatchObject({ status: "failed", errorCode: code });
  }
});

test("[ENG-settle-poison] one bad item in a batch fails alone", async () => {
  await using t = await startTestEngine();
  const leased = await Promise.all(
    Array.from({ length: 10 }, () =>
      t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} }),
    ),
  );
  const calls = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 10 });
  const outcomes = await Promise.allSettled(
    calls.map((call, i) =>
      t.engine.calls.settle(i === 3 ? { ...resultFor(call), actorId: "tool.other" } : resultFor(call)),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(leased.length - 1);
});

test("[UTP-6.5-actor] a result by another actor than the command was sent to is refused", async () => {
  await using t = await startTestEngine();
  const call = await dispatchAndClaim(t, "safe");
  expect(await refused(t, () => t.engine.calls.settle({ ...resultFor(call), actorId: "tool.other" }))).toBe(
    "invalid_source_actor",
  );
});

test("[INV-I7-tenant] [SEC-14-E1] a call of another project does not exist: not to read, keep, settle or cancel", async () => {
  await using t = await startTestEngine();
  await t.engine.projects.createProject({ project_id: "other", title: "Other", bootstrap: false }, "sys.test");
  const call = await dispatchAndClaim(t, "safe");
  const foreign = { ...resultFor(call), projectId: "other" };
  expect(await refused(t, () => t.engine.calls.settle(foreign))).toBe("not_found");
  expect(await refused(t, () => t.engine.calls.heartbeat(foreign))).toBe("not_found");
  expect(await refused(t, () => t.engine.calls.cancel(foreign))).toBe("not_found");
  expect(await refused(t, () => t.engine.calls.get(foreign))).toBe("not_found");
  expect(await t.engine.cards.getCards("other", [call.facts.callCardId])).toEqual([]);
});

test("[ENG-clock] a process whose clock jumps back or forth moves no deadline", async () => {
  let offset = 0;
  const clock = { ...systemClock, now: () => Date.now() + offset };
  await using t = await startTestEngine({ clock });
  const call = await dispatchAndClaim(t, "unsafe");
  offset = -24 * 3_600_000;
  expect(await t.engine.expire()).toMatchObject({ looked: 0 });
  offset = 24 * 3_600_000;
  expect(await t.engine.expire()).toMatchObject({ looked: 0 });
  const beat = await t.engine.calls.heartbeat({ ...call.facts, leaseId: call.lease.id });
  expect(Math.abs((beat.expiresAt?.getTime() ?? 0) - call.lease.expiresAt.getTime())).toBeLessThan(30_000);
  expect(await t.engine.calls.settle(resultFor(call))).toMatchObject({ status: "success" });
});

test("[ENG-not-before-bounds] a time to start that is not a time, or never comes, is refused and nothing is written", async () => {
  await using t = await startTestEngine();
  const call = (notBeforeMs: number) => () =>
    t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {}, notBeforeMs });
  for (const ms of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 8.64e15, -1])
    expect(await refused(t, call(ms))).toBe("bad_request");
});

test("[ENG-bad-names] names and pages no caller can mean are the caller's mistake, not the server's", async () => {
  await using t = await startTestEngine();
  const { projectId } = t;
  const { calls, deadLetters, tokens } = t.engine;
  const { facts, lease } = await dispatchAndClaim(t, "safe");
  const nul = "a\u0000b";
  const key = { projectId, toolCallId: nul };
  const tries: Readonly<Record<string, () => Promise<unknown>>> = {
    get: () => calls.get(key),
    dispatch: () => calls.dispatch({ projectId: nul, toolName: "safe", arguments: {} }),
    claim: () => calls.claim({ projectId, target: nul, holder: "h", max: 1 }),
    holder: () => calls.claim({ projectId, target: "test", holder: nul, max: 1 }),
    heartbeat: () => calls.heartbeat({ ...facts, leaseId: nul }),
    release: () => calls.release({ ...key, leaseId: lease.id }),
    cancel: () => calls.cancel(key),
    list: () => calls.list(projectId, { before: nul }),
    page: () => calls.list(projectId, { limit: -1 }),
    halfPage: () => calls.list(projectId, { limit: 1.5 }),
    letter: () => deadLetters.get(projectId, nul),
    letters: () => deadLetters.list(projectId, { limit: 0 }),
    role: () => tokens.create({ role: "boss" as "viewer", projectId }),
    forever: () => tokens.create({ role: "viewer", projectId, ttlSeconds: Number.POSITIVE_INFINITY }),
    expired: () => tokens.create({ role: "viewer", projectId, ttlSeconds: -1 }),
    label: () => tokens.create({ role: "viewer", projectId, label: nul }),
  };
  for (const [name, attempt] of Object.entries(tries))
    expect([name, await refused(t, attempt)]).toEqual([name, "bad_request"]);
});

test("[ENG-flush-bytes] large arguments and results travel in small flushes, text or not", async () => {
  await using t = await startTestEngine();
  const { calls } = t.engine;
  const large = { parts: ["x".repeat(700_000)] };
  const ask = { projectId: t.projectId, toolName: "safe", arguments: large };
  await Promise.all(Array.from({ length: 24 }, () => calls.dispatch(ask)));
  const leased: LeasedCall[] = [];
  // A claim takes some megabytes.
  while (leased.length < 24)
    leased.push(...(await calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 24 }, 10_000)));
  await Promise.all(leased.map((call) => calls.settle(resultFor(call, { result: large }))));
  // Five of 0.7 MB fit into a flush of 4 MB.
  const { dispatch, settle } = calls.stats();
  expect(dispatch).toMatchObject({ items: 24, rescued: 0 });
  expect(dispatch?.flushes).toBeGreaterThanOrEqual(5);
  expect(settle).toMatchObject({ items: 24, rescued: 0 });
  expect(settle?.flushes).toBeGreaterThanOrEqual(5);
});
