// Doorbells of the worker's pools. A wakeup carries no meaning: whom it is for is in its subject and headers, and one that
// cannot be read is dropped with a line in the log, because what it rang for is found by the slow look (I13).

import type { AgentKey, Engine, Log } from "@toolplane/engine";
import { HEADERS, tryParseSubject } from "@toolplane/protocol";
import { workerWakeupSubscription } from "@toolplane/protocol/agents";

export interface WakeupsOptions {
  readonly bus: Pick<Engine["bus"], "consume">;
  readonly workerTargets: readonly string[];
  readonly log: Log;
  readonly ring: (key: AgentKey) => void;
}

export interface Wakeups {
  rings(): number;
  stop(): Promise<void>;
}

/** Handling one takes no time, so a whole fetch is handled and acknowledged together. */
const BATCH = 256;

const agentOf = (subject: string, headers: Readonly<Record<string, string>>): AgentKey | undefined => {
  const projectId = tryParseSubject(subject)?.projectId;
  const agentId = headers[HEADERS.agentId];
  return projectId === undefined || agentId === undefined || agentId === "" ? undefined : { projectId, agentId };
};

export const consumeWakeups = async ({ bus, workerTargets, log, ring }: WakeupsOptions): Promise<Wakeups> => {
  let rings = 0;
  const consumers = await Promise.all(
    workerTargets.map((target) => {
      const { durable, pattern } = workerWakeupSubscription(target);
      const options = {
        durable,
        pattern: pattern.text,
        category: "cmd",
        deliver: "all",
        batch: BATCH,
        maxInFlight: BATCH,
      } as const;
      return bus.consume(options, ({ subject, headers }) => {
        const key = agentOf(subject, headers);
        if (key === undefined) return log.warn("a wakeup names no agent and is dropped", { subject });
        rings++;
        ring(key);
      });
    }),
  );
  return {
    rings: () => rings,
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
};
