// provision_agent: writes the roster row, its identity edge and an idle head, or refuses with a code. The roster is locked while
// it is decided, so that two requests for one agent see each other.

import type { HeldCall, Queryer } from "@toolplane/engine";
import type { JsonObject } from "@toolplane/protocol";
import type { PmoMeans } from "./delegate.ts";
import {
  isRefused,
  type ProvisionAsk,
  type ProvisionRefusal,
  parseProvision,
  planProvision,
} from "./plan-provision.ts";
import type { PmoCall } from "./pmo-call.ts";

const rejected = (code: ProvisionRefusal): JsonObject => ({ status: "rejected", error_code: code });

const accepted = (agentId: string, updated: boolean): JsonObject => ({
  status: "accepted",
  agent_id: agentId,
  roster_updated: updated,
});

const some = (...values: readonly (string | undefined)[]): string[] =>
  values.filter((value): value is string => value !== undefined);

export const createProvision = ({ engine }: PmoMeans) => {
  const provision = async (call: PmoCall, held: HeldCall, ask: ProvisionAsk, tx: Queryer): Promise<JsonObject> => {
    const { projectId, callerId } = call;
    const edgeId = `identity_${call.toolCallId}`;
    await engine.delegation.lockRoster(projectId, tx);
    const before = await engine.delegation.findProvisioned(projectId, edgeId, tx);
    if (before !== undefined) return accepted(before, true);
    const asked = {
      agentIds: some(callerId, ask.agentId, ask.derivedFrom),
      profileNames: some(ask.profileName),
      profileBoxIds: some(ask.profileBoxId),
    };
    const parties = await engine.delegation.readParties(projectId, asked, tx);
    const plan = planProvision({ ask, projectId, callerId, parties });
    if (isRefused(plan)) return rejected(plan.refused);
    await engine.delegation.keepAgent(projectId, ask.agentId, tx);
    if (!plan.changes) return accepted(ask.agentId, false);
    const write = {
      agent: plan.agent,
      action: plan.action,
      depth: held.recursionDepth + 1,
      edgeId,
      sourceAgentId: callerId,
      channelId: call.channelId,
      activeChannelId: ask.activeChannelId,
      traceId: call.traceId ?? undefined,
      parentStepId: call.stepId ?? undefined,
      edgeMetadata: { tool_call_id: call.toolCallId },
    };
    await engine.delegation.writeAgents([write], tx);
    return accepted(ask.agentId, true);
  };

  return async (call: PmoCall, args: JsonObject): Promise<JsonObject> => {
    const ask = parseProvision(args);
    if (isRefused(ask)) return rejected(ask.refused);
    const result = await engine.delegation.forCall(call, (tx, held) => provision(call, held, ask, tx));
    if (result.roster_updated === true) engine.doorbell.ring("registry");
    return result;
  };
};
