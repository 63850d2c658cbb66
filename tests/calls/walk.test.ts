import { startTestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

const succeed = { given: { status: "success", result: { words: 2 } } };

test("[INV-I1] a call is dispatched, leased, settled once, and found with its result", async () => {
  await using t = await startTestEngine();
  const { calls, cards } = t.engine;
  const made = await calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: { text: "two words" } });
  expect(made).toMatchObject({ status: "queued", idempotent: false, agentTurnId: `turn_${made.toolCallId}` });

  const [leased] = await calls.claim({ projectId: t.projectId, target: "test", holder: "host-1", max: 5 });
  expect(leased?.facts.toolCallId).toBe(made.toolCallId);
  expect(leased?.command.payload).toEqual({
    tool_call_card_id: made.callCardId,
    tool_name: "safe",
    after_execution: "suspend",
  });
  expect(leased?.command.headers).toMatchObject({ "CG-Tool-Call-Id": made.toolCallId, "CG-Agent-Id": "sys.api" });
  expect(JSON.parse(leased?.cardBody ?? "{}").content.arguments).toEqual({ text: "two words" });

  const key = { projectId: t.projectId, toolCallId: made.toolCallId };
  const settle = { ...key, actorId: "tool.test", leaseId: leased?.lease.id, outcome: succeed };
  const settled = await calls.settle(settle);
  expect(settled).toMatchObject({ status: "success", idempotent: false });
  expect(await calls.settle(settle)).toEqual({ ...settled, idempotent: true });

  const view = await calls.get(key);
  expect(view).toMatchObject({ status: "success", settledBy: "tool.test", resultCardId: settled.toolResultCardId });
  const [card] = await cards.getCards(t.projectId, [settled.toolResultCardId]);
  expect(card?.content).toMatchObject({ __type__: "ToolResultContent", status: "success", result: { words: 2 } });
  expect(card?.metadata).toMatchObject({ step_id: view.stepId, trace_id: view.traceId, function_name: "safe" });
});
