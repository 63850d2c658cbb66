// Parts of a result while it is being made: a lossy stream for watchers. Parts are not stored, and no call waits for them.

import type { Bus } from "@toolplane/bus";
import { canonicalText, type JsonValue, partStreamSubject } from "@toolplane/protocol";
import type { Part as PartMessage } from "@toolplane/protocol/agents";
import { createRota } from "../coalescer/rota.ts";
import type { CallFacts } from "./call.ts";

export interface Part {
  readonly index: number;
  readonly part: JsonValue;
}

export type EmitParts = (facts: CallFacts, parts: readonly Part[]) => Promise<void>;

/** Each part goes to each reader before the next one: a thousand parts and sixty readers are a tenth of a second. */
const AT_ONCE = 50;
const CHARS_AT_ONCE = 128 * 1024;

/** All requests of the process take turns, a few parts each, and other work comes between. A few parts are sent at once. */
export const createPartEmitter = (bus: Pick<Bus, "publishStream">): EmitParts => {
  const turns = createRota(1);
  return async (facts, parts) => {
    const subject = partStreamSubject({ projectId: facts.projectId, channelId: facts.channelId }, facts.agentId);
    let [left, chars] = [0, 0];
    for (const { index, part } of parts) {
      if (left === 0 || chars <= 0) {
        await turns.take();
        [left, chars] = [AT_ONCE, CHARS_AT_ONCE];
      }
      const message: PartMessage = { agent_turn_id: facts.agentTurnId, tool_call_id: facts.toolCallId, index, part };
      const payload = canonicalText(message);
      bus.publishStream({ subject, payload });
      left -= 1;
      chars -= payload.length;
    }
  };
};
