// Sends parts to the server: joined while a request is under way, bounded, and dropped instead of waited for (G5).

import { isToolplaneError, type JsonValue } from "@toolplane/protocol";
import type { Log } from "../ports/log.ts";
import type { CallParts } from "./gateway.ts";

export interface IndexedPart {
  readonly index: number;
  readonly part: JsonValue;
}

export type PostParts = (call: Omit<CallParts, "parts">, parts: readonly IndexedPart[]) => Promise<void>;

/** When a tool produces faster than the network carries, the oldest parts are dropped; the result is not affected. */
const MAX_WAITING = 1_000;
const MAX_PER_REQUEST = 100;

interface Lane {
  readonly call: Omit<CallParts, "parts">;
  readonly waiting: IndexedPart[];
  sending: boolean;
}

export const createPartPipe = (post: PostParts, log: Log): ((parts: CallParts) => void) => {
  const lanes = new Map<string, Lane>();
  // Logged once when it begins, not for every part.
  let failing = false;

  const drain = async (key: string, lane: Lane): Promise<void> => {
    lane.sending = true;
    while (lane.waiting.length > 0) {
      const batch = lane.waiting.splice(0, MAX_PER_REQUEST);
      try {
        await post(lane.call, batch);
        failing = false;
      } catch (error) {
        const reason = isToolplaneError(error) ? error.message : "unknown";
        if (!failing) log.warn("parts of running calls are not delivered", { call: lane.call.toolCallId, reason });
        failing = true;
      }
    }
    lanes.delete(key);
  };

  return ({ parts, ...call }) => {
    const lane = lanes.get(call.toolCallId) ?? { call, waiting: [], sending: false };
    lanes.set(call.toolCallId, lane);
    lane.waiting.push(...parts);
    if (lane.waiting.length > MAX_WAITING) lane.waiting.splice(0, lane.waiting.length - MAX_WAITING);
    if (!lane.sending) void drain(call.toolCallId, lane);
  };
};
