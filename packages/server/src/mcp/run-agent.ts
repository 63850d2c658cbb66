// Agents as one more MCP tool, `run_agent`, for the agents that the address names (`?agents=helper,writer`). A call starts a turn with
// the same rights as the route for turns, and waits for its deliverable. The idempotency key is the turn's correlation: the same
// key again finds the same turn.

import { type JsonValue, parseWith } from "@toolplane/protocol";
import { z } from "zod";
import { cardsToGive, checkMayStart } from "../http/agent-rights.ts";
import { planAsk } from "../turns/plan-ask.ts";
import { askedDetail } from "../turns/turn-body.ts";
import type { McpAsk } from "./mcp-ask.ts";
import { type McpToolResult, planContent, planFailure } from "./mcp-content.ts";
import { internalError, refuseCall } from "./mcp-errors.ts";
import { META_KEY, parseCallMeta } from "./mcp-meta.ts";
import type { McpTool } from "./mcp-tools.ts";

export const RUN_AGENT = "run_agent";

/** As long as a tool call is waited for. */
const LONGEST_WAIT_MS = 3_600_000;

export const runAgentTool = (agents: readonly string[]): McpTool => ({
  name: RUN_AGENT,
  title: "Run an agent",
  description: `Give an agent an instruction and get what it delivers. Agents: ${agents.join(", ")}.`,
  inputSchema: {
    type: "object",
    properties: {
      agent: { type: "string", enum: [...agents] },
      instruction: { type: "string", minLength: 1 },
    },
    required: ["agent", "instruction"],
    additionalProperties: false,
  },
  annotations: { destructiveHint: true, openWorldHint: true },
});

const argumentsFor = (agents: readonly string[]) =>
  z.strictObject({
    agent: z.string().refine((name) => agents.includes(name), `one of ${agents.join(", ")}`),
    instruction: z.string().min(1).max(200_000),
  });

export const runAgent = async (
  ask: McpAsk,
  { arguments: args, meta: given }: { readonly arguments: unknown; readonly meta: unknown },
): Promise<McpToolResult> => {
  const { engine, projectId, caller, own, signal } = ask;
  try {
    const meta = parseCallMeta(given);
    const { agent: agentId, instruction } = parseWith(argumentsFor(ask.agents), args, "arguments");
    await checkMayStart(engine, caller, own, { projectId, agentId });
    const byAgent = caller.token.role === "agent";
    const give = cardsToGive(engine.boxes, own, projectId);
    const means = { engine, projectId, agentId, packedBy: caller.actorId, byAgent, give };
    const request = {
      projectId,
      agentId,
      sourceAgentId: caller.actorId,
      ...(await planAsk(means, { instruction })),
      correlationId: meta.key,
      traceparent: meta.trace.get("traceparent") ?? undefined,
      tracestate: meta.trace.get("tracestate") ?? undefined,
    };
    const asked = await engine.turns.ask(request, {
      waitMs: LONGEST_WAIT_MS,
      signal,
      repeated: ({ agentTurnId }) => own.check("turn", agentTurnId),
    });
    const turn = await askedDetail(engine, asked);
    const turnMeta = { "toolplane/agent_turn_id": asked.spawned.agentTurnId };
    if (turn.ended_at === null)
      throw internalError(`the turn goes on; call again with the same ${META_KEY} to wait for it`, turnMeta);
    const deliverable = (turn.deliverable ?? null) as JsonValue;
    const result =
      turn.status === "success"
        ? planContent(deliverable)
        : planFailure(
            { code: String(turn.status), message: `the turn of ${agentId} ended as ${String(turn.status)}` },
            deliverable,
          );
    return { ...result, _meta: { ...result._meta, ...turnMeta } };
  } catch (error) {
    return refuseCall(error);
  }
};
