// A tool service in this process: one loop that claims what it can run at once, runs it, settles by the lease.

import type { Engine, LeasedCall } from "@toolplane/engine";
import { PROJECT, RESULT, TARGET } from "./scene.ts";

export interface Service {
  stop(): Promise<void>;
}

// Longer than any round: an idle claim should not show up as a statement.
const WAIT_MS = 20_000;
const MAX_CLAIM = 256;

export const startService = (
  engine: Engine,
  capacity: number,
  onSettled: (call: LeasedCall, error?: unknown) => void,
): Service => {
  const stopping = new AbortController();
  let running = 0;
  let roomMade: (() => void) | undefined;

  const standing = { room: () => Math.min(capacity - running, MAX_CLAIM) };
  const work = async (call: LeasedCall): Promise<void> => {
    try {
      await engine.calls.settle({
        projectId: call.facts.projectId,
        toolCallId: call.facts.toolCallId,
        actorId: call.facts.actorId,
        leaseId: call.lease.id,
        outcome: { given: RESULT },
      });
      onSettled(call);
    } catch (error) {
      onSettled(call, error);
    } finally {
      running--;
      roomMade?.();
    }
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const free = Math.min(capacity - running, MAX_CLAIM);
      if (free === 0) {
        await new Promise<void>((resolve) => {
          roomMade = resolve;
        });
        roomMade = undefined;
        continue;
      }
      const request = { projectId: PROJECT, target: TARGET, holder: "bench", max: free, standing };
      for (const call of await engine.calls.claim(request, WAIT_MS, stopping.signal)) {
        running++;
        void work(call);
      }
    }
  };
  const looping = loop();

  return {
    async stop() {
      stopping.abort();
      roomMade?.();
      await looping;
    },
  };
};
