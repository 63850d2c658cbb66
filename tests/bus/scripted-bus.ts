// An external bus that does as it is told: keeps what it is given, refuses what the script says.

import type { Bus, BusMessage } from "@toolplane/bus";
import { createCollector } from "@toolplane/testkit";

export interface ScriptedBus extends Pick<Bus, "publish"> {
  /** Every message it accepted, repetitions included. */
  readonly accepted: ReturnType<typeof createCollector<BusMessage>>;
  /** How often it was asked. */
  readonly asked: ReturnType<typeof createCollector<number>>;
  /** Decides about each message; an error refuses the whole call, as far as the caller can tell. */
  script(decide: (message: BusMessage) => Error | undefined): void;
}

export const createScriptedBus = (): ScriptedBus => {
  const accepted = createCollector<BusMessage>();
  const asked = createCollector<number>();
  let decide: (message: BusMessage) => Error | undefined = () => undefined;
  return {
    accepted,
    asked,
    script(next) {
      decide = next;
    },
    async publish(messages) {
      asked.push(messages.length);
      const verdicts = messages.map((message) => decide(message));
      await Promise.resolve();
      const refusal = verdicts.find((verdict) => verdict !== undefined);
      if (refusal !== undefined) throw refusal;
      for (const message of messages) accepted.push(message);
    },
  };
};
