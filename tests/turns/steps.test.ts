// A step is committed whole: cards, calls, refusals, head; by whoever holds the claim, once.

import { stepIdOf, type Work } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { codeOf, fingerprint, MEDDLINGS, meddle, until, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";
import {
  advance,
  answerAll,
  asking,
  call,
  commit,
  events,
  mustWork,
  plainCard,
  startTurnWorld,
  takeTurn,
  thought,
} from "./turn-world.ts";

test("[UTP-7.3-1] [UTP-7.1-1] [INV-I4] [UTP-W03] a step's calls, cards and head: one commit, in order, hidden cards hidden", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const step = await t.engine.turns.commitStep(work, {
    stepId: stepIdOf(work.agentTurnId, 1),
    entries: [
      { card: plainCard(work, "prompt"), show: false },
      { card: thought(work) },
      call("safe", {}, "call_0"),
      call("safe", {}, "call_0"),
    ],
    metadata: { llm_usage: { total_tokens: 12 }, bad: "a\u0000b" },
  });
  expect(step.calls.map(({ providerCallId }) => providerCallId)).toEqual(["call_0", "call_0"]);
  expect(new Set(step.calls.map(({ toolCallId }) => toolCallId)).size).toBe(2);
  const box = await t.engine.boxes.loadBox(t.projectId, work.outputBoxId);
  expect(box?.cardIds).toEqual([thought(work).card_id, ...step.calls.map(({ callCardId }) => callCardId)]);
  expect(await t.engine.turns.steps(work)).toMatchObject([
    {
      status: "suspended",
      toolCallIds: step.calls.map(({ toolCallId }) => toolCallId),
      metadata: { llm_usage: { total_tokens: 12 } },
    },
  ]);
  const chained = await t.rows<{ chain_seq: number }>(
    "select chain_seq from cards.cards where (agent_turn_id = $1 or card_id = 'prompt') and type <> 'task.instruction' order by chain_seq",
    [work.agentTurnId],
  );
  expect(chained.map(({ chain_seq }) => chain_seq)).toEqual([3, 4, 5, 6]);
  expect(await t.rows("select status, waiting_tool_count as waiting, chain_seq from state.heads")).toEqual([
    { status: "suspended", waiting: 2, chain_seq: 6 },
  ]);
});

test("[UTP-W20-T1] a call that cannot be made gets its card and one failed result; the others go out", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const refuse = new ToolplaneError("auth_failed", "this agent may not call it");
  const step = await commit(
    t,
    work,
    call("safe"),
    call("nothing"),
    call("strict", { n: "x" }),
    call("safe", "{broken"),
    {
      call: { toolName: "unsafe", arguments: {} },
      refuse,
    },
  );
  expect(step.next).toBe("suspended");
  expect(step.calls.map(({ refusal }) => refusal?.code)).toEqual([
    undefined,
    "not_found",
    "bad_request",
    "bad_request",
    "auth_failed",
  ]);
  const cards = (await t.engine.boxes.loadBoxCards(t.projectId, work.outputBoxId)) ?? [];
  expect(cards.map(({ type }) => type)).toEqual([
    "agent.thought",
    "tool.call",
    ...Array.from({ length: 4 }, () => ["tool.call", "tool.result"]).flat(),
  ]);
  const failures = cards.filter(({ type }) => type === "tool.result");
  expect(failures.map(({ content }) => content)).toMatchObject(
    ["not_found", "bad_request", "bad_request", "auth_failed"].map((code) => ({
      status: "failed",
      after_execution: "suspend",
      error: { code, source: "worker" },
    })),
  );
  expect(await t.rows("select tool_name from state.calls")).toEqual([{ tool_name: "safe" }]);
  await answerAll(t);
  expect(await advance(t)).toMatchObject({ applied: 1, work: { stepCount: 1 } });
});

test("when every call is refused, or there is none, the turn thinks on under the same claim", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  expect(await commit(t, work, call("nothing"))).toMatchObject({ next: "running", stepCount: 1 });
  const second = { ...work, stepCount: 1 };
  expect(await commit(t, second)).toMatchObject({ next: "running", stepCount: 2, calls: [] });
  expect((await events(t, "step")).map(({ payload }) => payload.phase)).toEqual(["completed", "completed"]);
  expect(
    await t.engine.turns.finish({ ...work, stepCount: 2 }, { status: "success", deliverable: { a: 1 } }),
  ).toMatchObject({ status: "success" });
});

test("[UTP-6.4-2] [ENG-step-again] the same step again is answered with what was written and sends nothing; another under its id is refused (T4)", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const first = await commit(t, work, call("safe"), call("nothing"));
  const before = await fingerprint(t);
  const again = await commit(t, work, call("safe"), call("nothing"));
  expect(again.calls.map(({ toolCallId, refusal }) => [toolCallId, refusal?.code])).toEqual(
    first.calls.map(({ toolCallId, refusal }) => [toolCallId, refusal?.code]),
  );
  expect(again.next).toBe("suspended");
  expect(await codeOf(commit(t, work, call("unsafe")))).toBe("conflict");
  expect(await fingerprint(t)).toBe(before);
});

test("[UTP-7.1-2] [INV-I2] [INV-I2-T1] whoever lost the claim, the turn or the epoch changes nothing (T2)", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const before = await fingerprint(t);
  const wrong: Partial<Work>[] = [
    { claimId: "claim_other" },
    { turnEpoch: 2 },
    { agentTurnId: "turn_other" },
    { inboxId: "inbox_other" },
  ];
  for (const change of wrong) {
    const bad = { ...work, ...change };
    expect(await codeOf(commit(t, bad, call("safe")))).toBe("lease_lost");
    expect(await codeOf(t.engine.turns.finish(bad, { status: "success", deliverable: "x" }))).toBe("lease_lost");
    expect(await codeOf(t.engine.turns.beginStep(bad, "step_x_1"))).toBe("lease_lost");
  }
  expect(await t.engine.turns.heartbeat([{ ...work, claimId: "claim_other" }])).toHaveLength(1);
  await t.engine.turns.release({ ...work, claimId: "claim_other" });
  expect(await fingerprint(t)).toBe(before);
});

test("a step begins once, however often it is said, and begins again after a crash under the same id (T3)", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const stepId = stepIdOf(work.agentTurnId, 1);
  await Promise.all([t.engine.turns.beginStep(work, stepId), t.engine.turns.beginStep(work, stepId)]);
  await t.engine.turns.beginStep(work, stepId);
  expect((await events(t, "step")).map(({ message_id }) => message_id)).toEqual([
    `${work.agentTurnId}:${stepId}:started`,
  ]);
  await meddle(t, "lapseAllClaims");
  const taken = mustWork(await advance(t));
  expect(taken.claimId).not.toBe(work.claimId);
  await t.engine.turns.beginStep(taken, stepId);
  expect(await events(t, "step")).toHaveLength(1);
  expect(await codeOf(commit(t, work, call("safe")))).toBe("lease_lost");
  expect(await commit(t, taken, call("safe"))).toMatchObject({ stepCount: 1 });
});

test("[UTP-W41] what cannot be written refuses the commit and leaves nothing: a foreign card, a deliverable, too much", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const before = await fingerprint(t);
  const entries = (card: object) =>
    t.engine.turns.commitStep(work, { stepId: "step_a_1", entries: [{ card: card as never }] });
  expect(await codeOf(entries({ ...plainCard(work, "x"), project_id: "elsewhere" }))).toBe("protocol_violation");
  expect(await codeOf(entries({ ...plainCard(work, "x"), type: "task.deliverable" }))).toBe("bad_request");
  expect(await codeOf(entries(plainCard(work, "x", "y".repeat(3_000_000))))).toBe("payload_too_large");
  const metadata = { much: "z".repeat(100_000) };
  expect(await codeOf(t.engine.turns.commitStep(work, { stepId: "step_a_1", entries: [], metadata }))).toBe(
    "payload_too_large",
  );
  expect(await codeOf(t.engine.turns.finish(work, { status: "success", entries: [call("safe")] }))).toBe("bad_request");
  expect(await fingerprint(t)).toBe(before);
});

test("a definition replaced under a step is planned again; one that was deleted refuses its call alone", async () => {
  await using t = await startTurnWorld();
  const other = await t.another();
  const work = await takeTurn(t);
  // Both are remembered here; the other process changes them behind our back.
  await t.engine.definitions.resolve([
    { projectId: t.projectId, toolName: "safe" },
    { projectId: t.projectId, toolName: "unsafe" },
  ]);
  const [tool] = await t.rows<{ definition: string }>(
    "select definition from resource.tool_versions where tool_name = 'safe'",
  );
  const { definition_hash: _, ...definition } = JSON.parse(tool?.definition ?? "{}") as Record<string, unknown>;
  await other.tools.upsertTool(t.projectId, { ...definition, description: "changed" });
  await meddle(t, "deleteUnsafeTool");
  const step = await commit(t, work, call("safe"), call("unsafe"));
  expect(step.calls.map(({ refusal }) => refusal?.code)).toEqual([undefined, "not_found"]);
  expect(await t.rows("select tool_name, tool_version from state.calls")).toEqual([
    { tool_name: "safe", tool_version: 2 },
  ]);
});

test("[UTP-6.4-1] a command goes only where its definition says within the caller's project and channel", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t, { channelId: "room" });
  await commit(t, work, call("safe"));
  expect(await t.rows("select subject, channel_id from state.calls")).toEqual([
    { subject: "cg.v1r4.demo.room.cmd.tool.test.safe", channel_id: "room" },
  ]);
  for (const target_subject of [
    "cg.v1r4.other.room.cmd.tool.test.x",
    "cg.v1r4.{project_id}.{channel_id}.evt.tool.test.x",
    "cg.v1r4.{project_id}.{channel_id}.cmd.agent.pool.wakeup",
    "nonsense",
  ])
    expect(
      await codeOf(
        t.engine.tools.upsertTool(t.projectId, {
          tool_name: "odd",
          description: "odd",
          target_subject,
          after_execution: "suspend",
          parameters: { type: "object" },
        }),
      ),
    ).not.toBe("no error");
});

test("[INV-I10-T1] finishing again is answered with what was written; a turn has one deliverable and one task event", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const end = await t.engine.turns.finish(work, {
    status: "failed",
    error: "no",
    errorCode: "max_steps_reached",
    stepId: "step_z_1",
  });
  expect(await t.engine.turns.finish(work, { status: "success", deliverable: "other" })).toEqual(end);
  const [card] = await t.engine.cards.getCards(t.projectId, [end.deliverableCardId]);
  expect(card).toMatchObject({ metadata: { partial: true, terminal_reason: "max_steps_reached" } });
  expect(await events(t, "task")).toHaveLength(1);
  const [task] = await events(t, "task");
  const [turn] = await t.rows<{ chain_hash: string }>("select chain_hash from state.turns");
  expect(task?.payload).toMatchObject({
    status: "failed",
    error: "no",
    error_code: "max_steps_reached",
    chain_head: turn?.chain_hash,
  });
  expect((await events(t, "step")).map(({ payload }) => payload.phase)).toEqual(["failed"]);
  expect((await events(t, "state")).at(-1)?.payload).toMatchObject({ status: "idle", metadata: { error: "no" } });
});

test("[UTP-7.2-2] [UTP-7.2-1] work is taken by one, of its own project, and comes back when it is given back", async () => {
  await using t = await startTurnWorld();
  await t.engine.turns.spawn(asking(t));
  expect(await t.rows("select status from state.inbox")).toEqual([{ status: "pending" }]);
  expect(await t.engine.turns.due(["pool_a"], 10)).toEqual([{ projectId: t.projectId, agentId: "helper" }]);
  expect(await t.engine.turns.due(["pool_b"], 10)).toEqual([]);
  const elsewhere = await t.engine.turns.advance({
    projectId: "elsewhere",
    agentId: "helper",
    workerId: "w",
    takeWork: true,
  });
  expect(elsewhere).toEqual({ applied: 0, workLeft: false });
  const all = await Promise.all(Array.from({ length: 5 }, () => advance(t)));
  expect(all.filter(({ work }) => work !== undefined)).toHaveLength(1);
  const work = mustWork(all.find((one) => one.work !== undefined) ?? { applied: 0, workLeft: false });
  expect(await t.rows("select status, worker from state.inbox")).toEqual([
    { status: "processing", worker: "worker-1" },
  ]);
  expect(await t.engine.turns.due(["pool_a"], 10)).toEqual([]);
  await t.engine.turns.release(work);
  expect(await codeOf(commit(t, work, call("safe")))).toBe("lease_lost");
  const again = mustWork(await advance(t));
  await t.engine.turns.finish(again, { status: "success", deliverable: "ok" });
  expect(await t.rows("select status, archived_at is not null as archived from state.inbox")).toEqual([
    { status: "consumed", archived: true },
  ]);
});

test("[UTP-6.3-7] a row of a kind nobody knows becomes error; no other kind of message is enqueued", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  await meddle(t, "forgeStop");
  expect((await advance(t)).work).toBeUndefined();
  expect(await t.rows("select status from state.inbox where inbox_id = 'inbox_odd'")).toEqual([{ status: "error" }]);
  expect(await t.engine.turns.heartbeat([work])).toEqual([]);
});

test("[UTP-10.6-4] a turn that ends between its steps leaves none begun: it is failed, and whoever follows it is told", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const stepId = stepIdOf(work.agentTurnId, 1);
  await t.engine.turns.beginStep(work, stepId);
  await t.engine.turns.finish(work, { status: "failed", error: "its profile is gone" });
  expect(await t.engine.turns.steps(work)).toMatchObject([
    { stepId, status: "failed", error: "its profile is gone", endedAt: expect.any(String) },
  ]);
  const phases = (await events(t, "step")).map(({ payload }) => [payload.step_id, payload.phase]);
  expect(phases).toEqual([
    [stepId, "started"],
    [stepId, "failed"],
  ]);
});

test("[LIM-project-4] calls of a step that find the queue full when they are written are refused; the others go out", async () => {
  await using t = await startTurnWorld();
  const { projectId } = t;
  await t.engine.projects.patchProject(projectId, { limits: { queue: 5 } });
  await Promise.all([1, 2, 3, 4].map(() => t.engine.calls.dispatch({ projectId, toolName: "safe", arguments: {} })));
  await t.engine.calls.claim({ projectId, target: "test", holder: "h", max: 4 });
  const work = await takeTurn(t);
  // Another process holds the queue and fills it, after the step was let in and before it is written.
  const step = await withClient(t, async (client) => {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtextextended('toolplane queue ' || $1, 0))", [projectId]);
    await client.query(MEDDLINGS.requeueRunning);
    const committing = commit(t, work, call("safe"), call("safe"), call("unsafe"));
    await until("the step waits for the queue", async () => {
      const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
      return (await t.rows(waiting)).length > 0;
    });
    await client.query("commit");
    return committing;
  });
  expect(step.next).toBe("suspended");
  expect(step.calls.map(({ refusal }) => refusal?.code)).toEqual([undefined, "rate_limited", "rate_limited"]);
  expect(await t.engine.calls.list(projectId, { status: "queued" })).toHaveLength(5);
});

test("[LIM-project-6] only the calls of a step that are written take tokens of the project's rate, and only once", async () => {
  await using t = await startTurnWorld();
  const { projectId } = t;
  await t.engine.projects.patchProject(projectId, { limits: { rate: { limit: 4, per_seconds: 604_800 } } });
  const work = await takeTurn(t);
  const step = () => commit(t, work, call("safe"), call("nothing"), call("strict", { n: "x" }));
  for (let again = 0; again < 4; again++)
    expect((await step()).calls.map(({ refusal }) => refusal?.code)).toEqual([undefined, "not_found", "bad_request"]);
  const made = await Promise.allSettled(
    Array.from({ length: 5 }, () => t.engine.calls.dispatch({ projectId, toolName: "safe", arguments: {} })),
  );
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
});

test("[UTP-5.3-19] a value for an argument that the definition sets is dropped with one warning at every door, without the value", async () => {
  const warned: (readonly [string, unknown])[] = [];
  const log = {
    info: () => {},
    warn: (...line: readonly [string, unknown]) => void warned.push(line),
    error: () => {},
  };
  const options = { args: { fixed: { account: "a1" } }, envs: { key: "SOME_KEY" } };
  await using t = await startTurnWorld({ log, tools: [{ name: "managed", options }, { name: "safe" }] });
  const direct = (toolName: string, args: object) =>
    t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: args });
  const { toolCallId } = await direct("managed", { q: 1, account: "v-1", Account: "v-2", KEY: "v-3" });
  await direct("managed", { q: 2, account: "v-4", key: "v-5" });
  await direct("managed", { q: 3 });
  await direct("safe", { account: "v-6" });
  const work = await takeTurn(t);
  const step = await commit(t, work, call("managed", { account: "v-7" }));
  const said = { projectId: t.projectId, tool: "managed" };
  expect(warned).toEqual([
    [expect.stringContaining("dropped"), { ...said, arguments: "account, key", agent: "sys.api", call: toolCallId }],
    [
      expect.stringContaining("dropped"),
      { ...said, arguments: "account", agent: "helper", call: step.calls[0]?.toolCallId },
    ],
  ]);
});
