// An engine's side of its carrier: the bus that all parts publish to, the relay that carries the outbox, the keeper of durables,
// and the remover of commands that were not needed.

import type { Bus, BusMessage, CarrierBus } from "@toolplane/bus";
import { tryToolCommandSubscription } from "@toolplane/protocol/agents";
import type { Calls } from "../calls/calls.ts";
import type { LeasedCall } from "../calls/take-calls.ts";
import { createMessageWriter } from "../outbox/message-writer.ts";
import { type RelayStats, relayOutbox } from "../outbox/relay-outbox.ts";
import type { Ground } from "../ports/ground.ts";
import type { TargetKey } from "../sessions/session-targets.ts";
import { type SweepStats, sweepAnswered } from "./answered-commands.ts";
import { createBury } from "./bury-message.ts";
import type { Carrier } from "./carrier.ts";
import { keepDurables } from "./durable-keeper.ts";
import { createOutboxBus } from "./outbox-bus.ts";
import { takeOver } from "./take-over.ts";

export interface CarriageOptions extends Pick<Ground, "db" | "doorbell" | "ids" | "clock" | "log" | "faults"> {
  readonly carrier: Carrier;
}

export interface CarrierStats {
  readonly relay: RelayStats;
  readonly durables: number;
  readonly answered: SweepStats;
}

/** Says why a command must never be carried out; undefined when it is sound. */
export type JudgeCommand = (command: BusMessage) => string | undefined;

/** What a bus beside the database brings. */
export interface Carried extends Pick<CarrierBus, "consume"> {
  /** Checks the commands to the project manager, which only the plane fetches. Returns the way to stop. */
  inspect(judge: JudgeCommand): () => void;
  stats(): CarrierStats;
}

export interface Carriage {
  readonly bus: Bus;
  readonly carried: Carried;
  /** The same calls; a claimed call is recorded as started without its command. */
  watch(calls: Calls): Calls;
  /** Whether services fetch the commands of this pair from the carrier. True until that is known. */
  isFetched(served: TargetKey): boolean;
  /** A service serves this pair on the carrier; resolves to the durable's name. */
  attach(served: TargetKey, fetches?: boolean): Promise<string>;
  /** Finishes what is on its way to the carrier; the holder of the bus closes it. */
  stop(): Promise<void>;
}

const COMPONENT_TOKEN = 5;

export const createCarriage = (options: CarriageOptions): Carriage => {
  const { carrier, log } = options;
  const carrierBus = carrier.open({ bury: createBury(options), log });
  const bus = createOutboxBus(carrierBus, createMessageWriter(options));
  const ground = { ...options, bus: carrierBus };
  const judges = new Set<JudgeCommand>();
  const answered = sweepAnswered({
    ...ground,
    malformed: (command) => {
      for (const judge of judges) {
        const reason = judge(command);
        if (reason !== undefined) return reason;
      }
      return undefined;
    },
    isFetched: (durable) => keeper.isFetched(durable),
    missed: () => {
      keeper.refresh();
    },
  });
  const keeper = keepDurables({
    ...ground,
    kept: answered.lookAt,
    leftoversEveryMs: carrier.leftoversEveryMs,
    detachAfterSeconds: carrier.detachAfterSeconds,
  });
  const relay = relayOutbox({
    ...ground,
    claimMs: carrier.relayClaimMs,
    prepare: (signal) => takeOver(options.db, signal),
    watch: {
      answered: (receivers) => {
        for (const [component, projectId, target] of receivers) answered.notice({ component, projectId, target });
      },
      // The carrier was away and may have lost something.
      recovered: keeper.refresh,
    },
  });

  const noticed = async (taking: Promise<readonly LeasedCall[]>): Promise<readonly LeasedCall[]> => {
    const taken = await taking;
    for (const { facts } of taken) {
      const { projectId, target } = facts;
      answered.notice({ component: facts.subject.split(".")[COMPONENT_TOKEN] ?? "", projectId, target });
    }
    return taken;
  };

  const isFetched = (served: TargetKey): boolean => {
    const durable = tryToolCommandSubscription(served.projectId, served.target)?.durable;
    return durable !== undefined && keeper.isFetched(durable) !== false;
  };

  return {
    bus,
    carried: {
      consume: (consumption, handler) => carrierBus.consume(consumption, handler),
      inspect(judge) {
        judges.add(judge);
        return () => {
          judges.delete(judge);
        };
      },
      stats: () => ({ relay: relay.stats(), durables: keeper.count(), answered: answered.stats() }),
    },
    watch: (calls) => ({
      ...calls,
      claim: (...request) => noticed(calls.claim(...request)),
      claimAcross: (...request) => noticed(calls.claimAcross(...request)),
    }),
    isFetched,
    attach: keeper.attach,
    async stop() {
      await Promise.all([answered.stop(), keeper.stop(), relay.stop()]);
    },
  };
};
