// Sends parts to the server: joined while a request is under way, bounded, and dropped instead of waited for (G5).
//   PL1. The word that ends a call goes after its parts: the plane takes no parts of a call that has ended.
//   PL2. It waits PATIENCE_MS at most. Parts that did not arrive by then are dropped.

import { isToolplaneError, type JsonValue } from "@toolplane/protocol";
import { type Clock, inTime, LATE } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { CallParts } from "./gateway.ts";

export interface IndexedPart {
  readonly index: number;
  readonly part: JsonValue;
}

export type PostParts = (call: Omit<CallParts, "parts">, parts: readonly IndexedPart[]) => Promise<void>;

export interface PartPipe {
  send(parts: CallParts): void;
  /** Runs what ends the call as soon as the parts sent before are with the server. */
  before<T>(toolCallId: string, end: () => Promise<T>): Promise<T>;
}

/** When a tool produces faster than the network carries, the oldest parts are dropped; the result is not affected. */
const MAX_WAITING = 1_000;
const MAX_PER_REQUEST = 100;
/** Far longer than a healthy plane takes for the last parts, far shorter than a lease. */
const PATIENCE_MS = 2_000;

interface Lane {
  readonly call: Omit<CallParts, "parts">;
  readonly waiting: IndexedPart[];
  /** Resolves when no part waits any more. */
  drained: Promise<void>;
  /** The result went first: what becomes of the parts is not worth a word any more. */
  isOver: boolean;
}

export const createPartPipe = (post: PostParts, { clock, log }: { clock: Clock; log: Log }): PartPipe => {
  const lanes = new Map<string, Lane>();
  // Logged once when it begins, not for every part.
  let failing = false;

  const drain = async (key: string, lane: Lane): Promise<void> => {
    while (lane.waiting.length > 0) {
      const batch = lane.waiting.splice(0, MAX_PER_REQUEST);
      try {
        await post(lane.call, batch);
        failing = false;
      } catch (error) {
        const reason = isToolplaneError(error) ? error.message : "unknown";
        if (!failing && !lane.isOver)
          log.warn("parts of running calls are not delivered", { call: lane.call.toolCallId, reason });
        failing ||= !lane.isOver;
      }
    }
    if (lanes.get(key) === lane) lanes.delete(key);
  };

  const finish = async (key: string, lane: Lane): Promise<void> => {
    if ((await inTime(clock, PATIENCE_MS, lane.drained)) !== LATE) return;
    lane.isOver = true;
    lane.waiting.length = 0;
    lanes.delete(key);
    log.warn("the last parts of a call were not taken in time; its result goes first", { call: key });
  };

  return {
    send({ parts, ...call }) {
      const key = call.toolCallId;
      const found = lanes.get(key);
      const lane = found ?? { call, waiting: [], drained: Promise.resolve(), isOver: false };
      lane.waiting.push(...parts);
      if (lane.waiting.length > MAX_WAITING) lane.waiting.splice(0, lane.waiting.length - MAX_WAITING);
      if (found !== undefined) return;
      lanes.set(key, lane);
      lane.drained = drain(key, lane);
    },

    before(toolCallId, end) {
      const lane = lanes.get(toolCallId);
      return lane === undefined ? end() : finish(toolCallId, lane).then(end);
    },
  };
};
