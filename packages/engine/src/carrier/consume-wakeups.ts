// Wakeups from a bus beside the database. A wakeup has no content: its subject and headers name the receiver. One that cannot be
// read is dropped with a line in the log, because the slow look finds what it rang for (I13).

import type { CarrierBus } from "@toolplane/bus";
import { HEADERS, tryParseSubject } from "@toolplane/protocol";
import { workerWakeupSubscription } from "@toolplane/protocol/agents";
import type { Log } from "../ports/log.ts";
import type { PoolServer } from "../turns/agent-bells.ts";
import type { AgentKey } from "../turns/turn.ts";

export interface ConsumeWakeupsOptions {
  readonly bus: Pick<CarrierBus, "consume">;
  readonly server: Pick<PoolServer, "workerTargets" | "rung">;
  readonly log: Log;
}

/** Handling one takes no time, so the messages of one fetch are handled and acknowledged together. */
const BATCH = 256;

const agentOf = (subject: string, headers: Readonly<Record<string, string>>): AgentKey | undefined => {
  const projectId = tryParseSubject(subject)?.projectId;
  const agentId = headers[HEADERS.agentId];
  return projectId === undefined || agentId === undefined || agentId === "" ? undefined : { projectId, agentId };
};

export const consumeWakeups = async ({ bus, server, log }: ConsumeWakeupsOptions) => {
  const consumers = await Promise.all(
    server.workerTargets.map((target) => {
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
        server.rung(key);
      });
    }),
  );
  return {
    async stop(): Promise<void> {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
};
