// A tool that asks a person only about what may come from outside, called by an agent that reads more and more.

import { defineTool } from "@toolplane/sdk";
import { eventually } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type AgentPlane, openAgentPlane, TARGET } from "./support/agent-plane.ts";

const PAY = defineTool({
  name: "pay",
  description: "Pay somebody",
  parameters: { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const,
  run: async ({ to }) => ({ paid: to }),
});

const askAboutPay = async ({ engine, projectId, agents }: AgentPlane): Promise<void> => {
  await engine.tools.upsertTool(projectId, {
    tool_name: "pay",
    description: PAY.description,
    parameters: PAY.parameters,
    target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${TARGET}.pay`,
    after_execution: "suspend",
    options: { approval: "external" },
  });
  await agents("ann");
};

test("[SEC-15-2] an agent's first call runs; after it has read a foreign result the next one waits for a person", async () => {
  await using plane = await openAgentPlane({ tools: [PAY] });
  const { engine, projectId } = plane;
  await askAboutPay(plane);
  await plane.startWorker(({ stepNumber }) =>
    stepNumber > 2
      ? "done"
      : { toolCalls: [{ id: "c", name: "pay", arguments: { to: stepNumber === 1 ? "bob" : "eve" } }] },
  );
  const turn = await plane.spawn("ann", "pay Bob");
  const waiting = async () => (await engine.approvals.list(projectId)).items;
  await eventually(async () => (await waiting()).length > 0);
  const [asked] = await waiting();
  // Bob was paid without a question: nothing from outside had been read.
  expect(asked).toMatchObject({ toolName: "pay", card: { content: { arguments: { to: "eve" } } } });
  await engine.approvals.deny({ projectId, toolCallId: asked?.toolCallId ?? "", by: "sue", reason: "who is Eve?" });
  expect(await plane.ended(turn)).toMatchObject({ status: "success" });
  const results = (await plane.outputOf(turn)).flatMap(({ content }) =>
    content.__type__ === "ToolResultContent" ? [content.status] : [],
  );
  expect(results).toEqual(["success", "failed"]);
});

/** Results of our own that push an older one out of what a step reads: 64 calls a step. */
const PADDING_STEPS = 9;
const padding = Array.from({ length: 64 }, (_, index) => ({ id: `r${index}`, name: "submit_result", arguments: {} }));

test("[SEC-15-4] a person is still asked when the foreign result is older than the cards that a step reads", async () => {
  await using plane = await openAgentPlane({ tools: [PAY], profile: { budget: { steps: 20 } } });
  const { engine, projectId } = plane;
  await askAboutPay(plane);
  await plane.startWorker(({ stepNumber }) => {
    if (stepNumber > PADDING_STEPS + 2) return "done";
    const pay = (to: string) => ({ toolCalls: [{ id: "c", name: "pay", arguments: { to } }] });
    if (stepNumber === 1) return pay("bob");
    return stepNumber < PADDING_STEPS + 2 ? { toolCalls: padding } : pay("eve");
  });
  const turn = await plane.spawn("ann", "pay Bob");
  const waiting = async () => (await engine.approvals.list(projectId)).items;
  const view = () => engine.turns.wait({ projectId, agentTurnId: turn.agentTurnId }, 0);
  await eventually(async () => (await waiting()).length > 0 || (await view())?.endedAt != null);
  const [asked] = await waiting();
  expect(asked).toMatchObject({ toolName: "pay", card: { content: { arguments: { to: "eve" } } } });
  const read = await plane.outputOf(turn);
  expect(read.some(({ author_id: author }) => author === `tool.${TARGET}`)).toBe(false);
});
