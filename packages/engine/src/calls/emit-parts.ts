// Parts of a result while it is being made: a lossy stream for watchers. Never stored, never waited for.

import type { Bus } from "@toolplane/bus";
import { canonicalText, type JsonValue, partStreamSubject } from "@toolplane/protocol";
import type { Part as PartMessage } from "@toolplane/protocol/agents";
import type { CallFacts } from "./call.ts";

export interface Part {
  readonly index: number;
  readonly part: JsonValue;
}

export const emitParts = (bus: Pick<Bus, "publishStream">, facts: CallFacts, parts: readonly Part[]): void => {
  const subject = partStreamSubject({ projectId: facts.projectId, channelId: facts.channelId }, facts.agentId);
  for (const { index, part } of parts) {
    const message: PartMessage = { agent_turn_id: facts.agentTurnId, tool_call_id: facts.toolCallId, index, part };
    bus.publishStream({ subject, payload: canonicalText(message) });
  }
};
