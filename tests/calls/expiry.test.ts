import { silentLog } from "@toolplane/engine";
import {
  codeOf,
  createMemoryCarrier,
  dispatchAndClaim,
  eventually,
  letPass,
  meddle,
  resultFor,
  startTestEngine,
  withClient,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

test("[ENG-run-timeout] a call that runs past its deadline settles as timeout; its late result is refused", async () => {
  await using t = await startTestEngine();
  const call = await dispatchAndClaim(t, "safe");
  await letPass(t, call.facts.toolCallId, "run");
  await t.engine.expire();
  expect(await t.engine.calls.get(call.facts)).toMatchObject({ status: "timeout", errorCode: "tool_timeout" });
  expect(await codeOf(t.engine.calls.settle(resultFor(call)))).toBe("already_settled");
  expect(await t.engine.calls.heartbeat({ ...call.facts, leaseId: call.lease.id })).toEqual({
    expiresAt: null,
    cancel: true,
  });
});

test("[ENG-queue-timeout] a call nobody started in time settles as queue_timeout, is not offered and is a dead letter", async () => {
  await using t = await startTestEngine();
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "unsafe", arguments: {} });
  await letPass(t, made.toolCallId, "queue");
  expect(await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 })).toEqual([]);
  await t.engine.expire();
  const key = { projectId: t.projectId, toolCallId: made.toolCallId };
  expect(await t.engine.calls.get(key)).toMatchObject({ status: "timeout", errorCode: "queue_timeout" });
  expect(await t.engine.deadLetters.list(t.projectId)).toMatchObject([{ code: "queue_timeout" }]);
});

test("[ENG-plain-timeout] a plain service's deadline counts from dispatch", async () => {
  await using t = await startTestEngine({
    tools: [{ name: "plain", options: { service: "plain", timeout_seconds: 5 } }],
  });
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "plain", arguments: {} });
  const view = await t.engine.calls.get({ projectId: t.projectId, toolCallId: made.toolCallId });
  expect((view.runDeadline?.getTime() ?? 0) - view.createdAt.getTime()).toBe(5_000);
  await letPass(t, made.toolCallId, "run");
  await t.engine.expire();
  expect(await t.engine.calls.get(view)).toMatchObject({ status: "timeout", errorCode: "tool_timeout" });
});

test("[ENG-approval-closed] a tool that needs approval is not offered, and expires unexecuted", async () => {
  await using t = await startTestEngine({ tools: [{ name: "risky", options: { approval: "required" } }] });
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "risky", arguments: {} });
  expect(made.status).toBe("awaiting_approval");
  expect(await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 })).toEqual([]);
  const forged = {
    projectId: t.projectId,
    toolCallId: made.toolCallId,
    actorId: "tool.test",
    outcome: { given: { status: "success" } },
  };
  expect(await codeOf(t.engine.calls.settle(forged))).toBe("conflict");
  await letPass(t, made.toolCallId, "queue");
  await t.engine.expire();
  expect(await t.engine.calls.get({ projectId: t.projectId, toolCallId: made.toolCallId })).toMatchObject({
    status: "failed",
    errorCode: "approval_expired",
  });
});

test("[ENG-pause] a paused tool's calls wait, and come back when it is resumed, also the one that raced with the resume", async () => {
  await using t = await startTestEngine();
  const claim = () => t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 });
  await t.engine.tools.pauseTool(t.projectId, "safe");
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  expect(await claim()).toEqual([]);
  await letPass(t, made.toolCallId, "due");
  await t.engine.expire();
  expect(await claim()).toEqual([]);
  await t.engine.tools.resumeTool(t.projectId, "safe");
  await meddle(t, "putOffCalls");
  await t.engine.expire();
  expect(await claim()).toMatchObject([{ facts: { toolCallId: made.toolCallId } }]);
});

test("[ENG-sweep-many] two watchdogs sweep the same calls at once: each call is handled once", async () => {
  await using t = await startTestEngine();
  const other = await t.another();
  await Promise.all(
    Array.from({ length: 50 }, () =>
      t.engine.calls.dispatch({ projectId: t.projectId, toolName: "unsafe", arguments: {} }),
    ),
  );
  await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 50 });
  await meddle(t, "lapseLeases");
  const sweeps = await Promise.all([t.engine.expire(30), other.expire(30), t.engine.expire(30), other.expire(30)]);
  const rest = await t.engine.expire(100);
  expect([...sweeps, rest].reduce((sum, { settled }) => sum + settled, 0)).toBe(50);
  expect((await t.engine.deadLetters.list(t.projectId)).length).toBe(50);
});

test("[ENG-watchdog] [SEE-9] a running engine does all this by itself, and says which call has no known outcome", async () => {
  const lines: string[] = [];
  const log = {
    ...silentLog,
    warn: (text: string, fields?: object) => lines.push(`${text} ${JSON.stringify(fields)}`),
  };
  await using t = await startTestEngine({ watchdog: true, leaseSeconds: 0.2, log });
  const call = await dispatchAndClaim(t, "unsafe");
  expect(await t.engine.calls.wait(call.facts, 30_000)).toBe(true);
  await eventually(() => lines.length > 0);
  expect(lines.join()).toContain("a call ended with an unknown outcome");
  expect(lines.join()).toContain(call.facts.toolCallId);
  expect(await t.engine.calls.get(call.facts)).toMatchObject({ errorCode: "outcome_unknown" });
});

test("[ENG-republish] with an external bus an unleased command is published again, less and less often", async () => {
  const carrier = createMemoryCarrier({ republishSeconds: 10 });
  await using t = await startTestEngine({ carrier });
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  await eventually(() => carrier.commands.length === 1);
  await letPass(t, made.toolCallId, "due");
  await t.engine.expire();
  await eventually(() => carrier.commands.length === 2);
  const [first, second] = carrier.commands;
  expect(second).toEqual({ ...first, messageId: expect.any(String) });
  expect(second?.messageId).not.toBe(first?.messageId);
  const wait = await withClient(
    t,
    async (client) =>
      (await client.query("select extract(epoch from due_at - now())::float8 as s from state.calls")).rows[0].s,
  );
  expect(wait).toBeGreaterThan(15);
});
