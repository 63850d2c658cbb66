// A person between a call and its execution: one decision, kept, and nothing runs before it.

import {
  createMemoryCarrier,
  eventually,
  letPass,
  startTestEngine,
  type TestEngine,
  withClient,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

const RISKY = {
  name: "risky",
  options: { approval: { policy: "required", timeout_seconds: 3_600 }, queue_timeout_seconds: 60, retry: "safe" },
};
const start = (): Promise<TestEngine> => startTestEngine({ tools: [RISKY, { name: "plain" }] });

const ask = async (t: TestEngine, toolName = "risky") => {
  const { toolCallId } = await t.engine.calls.dispatch({
    projectId: t.projectId,
    toolName,
    arguments: { drop: "all" },
  });
  return { projectId: t.projectId, toolCallId };
};

const claim = (t: TestEngine) =>
  t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "s1", max: 10 });

test("[ENG-approval-1] an approved call goes into the queue with the time its definition gives it, and runs", async () => {
  await using t = await start();
  const key = await ask(t);
  expect(await claim(t)).toEqual([]);
  const decision = await t.engine.approvals.approve({ ...key, by: "ann", reason: "looked at it" });
  expect(decision).toMatchObject({
    verdict: "approved",
    by: "ann",
    reason: "looked at it",
    status: "queued",
    idempotent: false,
  });
  const view = await t.engine.calls.get(key);
  const waitMs = view.queueDeadline.getTime() - (await t.engine.databaseNow());
  expect(waitMs).toBeGreaterThan(30_000);
  expect(waitMs).toBeLessThanOrEqual(60_000);
  const [leased] = await claim(t);
  expect(leased?.facts.toolCallId).toBe(key.toolCallId);
});

test("[ENG-approval-2] a denied call settles failed with the reason and is never offered", async () => {
  await using t = await start();
  const key = await ask(t);
  const waiting = t.engine.calls.wait(key, 30_000);
  const decision = await t.engine.approvals.deny({ ...key, by: "bob", reason: "not on a Friday" });
  expect(decision).toMatchObject({ verdict: "denied", status: "failed" });
  expect(await waiting).toBe(true);
  expect(await claim(t)).toEqual([]);
  const view = await t.engine.calls.get(key);
  expect(view).toMatchObject({ status: "failed", errorCode: "approval_denied", settledBy: "sys.engine", attempts: 0 });
  const [card] = await t.engine.cards.getCards(t.projectId, [view.resultCardId]);
  expect(card?.content).toMatchObject({
    status: "failed",
    error: { code: "approval_denied", message: "bob denied risky: not on a Friday; it was not executed" },
  });
});

test("[ENG-approval-3] the first decision counts: the same again is answered, the opposite is a conflict", async () => {
  await using t = await start();
  const [yes, no] = [await ask(t), await ask(t)];
  await t.engine.approvals.approve({ ...yes, by: "ann" });
  await t.engine.approvals.deny({ ...no, by: "ann" });
  expect(await t.engine.approvals.approve({ ...yes, by: "bob" })).toMatchObject({ by: "ann", idempotent: true });
  expect(await t.engine.approvals.deny({ ...no, by: "bob" })).toMatchObject({ by: "ann", idempotent: true });
  await expect(t.engine.approvals.deny({ ...yes, by: "bob" })).rejects.toMatchObject({ code: "conflict" });
  await expect(t.engine.approvals.approve({ ...no, by: "bob" })).rejects.toMatchObject({ code: "conflict" });
});

test("[ENG-approval-3] of many who decide at once, on two engines, exactly one decides", async () => {
  await using t = await start();
  const other = await t.another();
  for (let round = 0; round < 5; round++) {
    const key = await ask(t);
    const said = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? t.engine : other).approvals[index % 3 === 0 ? "approve" : "deny"]({
          ...key,
          by: `p${index}`,
        }),
      ),
    );
    const answers = said.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(answers.filter(({ idempotent }) => !idempotent)).toHaveLength(1);
    expect(new Set(answers.map(({ verdict, by }) => `${verdict} ${by}`)).size).toBe(1);
    for (const one of said) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "conflict" });
  }
});

test("[ENG-approval-4] a call whose time is over cannot be approved, also before a watchdog came by", async () => {
  await using t = await start();
  const key = await ask(t);
  await letPass(t, key.toolCallId, "queue");
  await expect(t.engine.approvals.approve({ ...key, by: "ann" })).rejects.toMatchObject({ code: "approval_expired" });
  await t.engine.expire();
  await expect(t.engine.approvals.approve({ ...key, by: "ann" })).rejects.toMatchObject({ code: "approval_expired" });
  await expect(t.engine.approvals.deny({ ...key, by: "ann" })).rejects.toMatchObject({ code: "approval_expired" });
  expect((await t.engine.calls.get(key)).errorCode).toBe("approval_expired");
});

test("[ENG-approval-5] what does not wait for approval, is unknown, or is decided by nobody is refused and unchanged", async () => {
  await using t = await start();
  const key = await ask(t, "plain");
  await expect(t.engine.approvals.approve({ ...key, by: "ann" })).rejects.toMatchObject({ code: "conflict" });
  await expect(t.engine.approvals.deny({ ...key, by: "ann" })).rejects.toMatchObject({ code: "conflict" });
  const missing = { ...key, toolCallId: "019a0000-0000-7000-8000-000000000000" };
  await expect(t.engine.approvals.approve({ ...missing, by: "ann" })).rejects.toMatchObject({ code: "not_found" });
  const risky = await ask(t);
  await expect(t.engine.approvals.approve({ ...risky, by: " \u0000 " })).rejects.toMatchObject({ code: "bad_request" });
  expect((await t.engine.calls.get(key)).status).toBe("queued");
  expect((await t.engine.calls.get(risky)).status).toBe("awaiting_approval");
});

test("[ENG-approval-6] the list shows what waits, longest first, with the arguments, in pages", async () => {
  await using t = await start();
  const keys = [await ask(t), await ask(t), await ask(t)];
  await ask(t, "plain");
  const first = await t.engine.approvals.list(t.projectId, { limit: 2 });
  const rest = await t.engine.approvals.list(t.projectId, { limit: 2, cursor: first.nextCursor });
  const shown = [...first.items, ...rest.items];
  expect(shown.map(({ toolCallId }) => toolCallId)).toEqual(keys.map(({ toolCallId }) => toolCallId));
  expect(shown[0]).toMatchObject({
    toolName: "risky",
    card: { content: { arguments: { drop: "all" } } },
    agentId: "sys.api",
  });
  expect(await t.engine.approvals.list("elsewhere")).toEqual({ items: [] });
});

test("[ENG-approval-7] a waiting call survives its process, and on an external bus its command leaves only when approved", async () => {
  const carrier = createMemoryCarrier();
  await using t = await startTestEngine({ tools: [RISKY], carrier });
  const key = await ask(t);
  await t.engine.expire();
  expect(
    await withClient(
      t,
      async (client) => (await client.query("select from bus.messages where category = 'cmd'")).rowCount,
    ),
  ).toBe(0);
  expect(carrier.commands).toEqual([]);
  const later = await t.another();
  expect(await later.approvals.approve({ ...key, by: "ann" })).toMatchObject({ status: "queued" });
  await eventually(() => carrier.commands.length === 1);
});

test("[ENG-approval-8] a call for later that is approved early still waits for its time; a paused tool's call waits too", async () => {
  await using t = await start();
  const notBeforeMs = (await t.engine.databaseNow()) + 600_000;
  const { toolCallId } = await t.engine.calls.dispatch({
    projectId: t.projectId,
    toolName: "risky",
    arguments: {},
    notBeforeMs,
  });
  const paused = await ask(t);
  await t.engine.approvals.approve({ projectId: t.projectId, toolCallId, by: "ann" });
  await t.engine.tools.pauseTool(t.projectId, "risky");
  await t.engine.approvals.approve({ ...paused, by: "ann" });
  expect(await claim(t)).toEqual([]);
  await t.engine.tools.resumeTool(t.projectId, "risky");
  expect((await claim(t)).map(({ facts }) => facts.toolCallId)).toEqual([paused.toolCallId]);
  const view = await t.engine.calls.get({ projectId: t.projectId, toolCallId });
  expect(Math.abs((view.availableAt?.getTime() ?? 0) - notBeforeMs)).toBeLessThan(2);
});

test("[SEC-15-2] with approval: external a person is asked about arguments that may come from outside, and about no others", async () => {
  const guarded = { name: "pay", options: { approval: { policy: "external", timeout_seconds: 60 } } };
  await using t = await startTestEngine({ tools: [guarded, RISKY] });
  const { projectId } = t;
  await t.engine.profiles.upsertProfile(projectId, { name: "plain", worker_target: "pool" });
  await t.engine.agents.upsertAgent(projectId, { agent_id: "helper", profile_name: "plain" });
  const statusOf = async (more: object) => {
    const asked = { projectId, toolName: "pay", arguments: {}, ...more };
    return (await t.engine.calls.dispatch(asked)).status;
  };
  // A person or a program of the operator; an agent that says what it has read; an agent that says nothing.
  expect(await statusOf({})).toBe("queued");
  expect(await statusOf({ external: true })).toBe("awaiting_approval");
  expect(await statusOf({ agentId: "helper", external: false })).toBe("queued");
  expect(await statusOf({ agentId: "helper", external: true })).toBe("awaiting_approval");
  expect(await statusOf({ agentId: "helper" })).toBe("awaiting_approval");
  expect(await statusOf({ toolName: "risky", external: false })).toBe("awaiting_approval");
});
