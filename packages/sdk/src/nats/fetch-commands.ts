// Fetches commands from the durable that the engine keeps for a target of this project. While NATS is away, the fetch waits.

import type { Delivery, FetchOptions } from "@toolplane/bus";
import type { NatsLink } from "@toolplane/bus/nats";
import type { AskGateway } from "../gateway/wire-gateway.ts";
import type { Clock } from "../ports/clock.ts";
import { createAttach } from "./attach.ts";

export interface FetchDeps {
  readonly link: Pick<NatsLink, "connected" | "onReconnect" | "commands">;
  readonly ask: AskGateway;
  /** A clock whose waits end when NATS is back. */
  readonly clock: Clock;
  /** Who fetches, as people read it. */
  readonly holder?: string | undefined;
}

export interface FetchCommandsOptions extends FetchOptions {
  /** The definitions the service runs. */
  readonly definitions?: readonly string[] | undefined;
}

/** None when nothing came in time or the signal aborted. */
export type FetchCommands = (target: string, options: FetchCommandsOptions) => Promise<readonly Delivery[]>;

export const createCommandFetch = ({ link, ask, clock, holder }: FetchDeps): FetchCommands => {
  const { attach, forget } = createAttach({ link, ask, clock, holder });

  return async (target, { max, waitMs, signal, definitions }) => {
    const end = clock.now() + waitMs;
    const left = (): number => Math.max(end - clock.now(), 0);
    if (!link.connected()) await clock.sleep(left(), signal);
    if (signal?.aborted) return [];
    const durable = await attach(target, { definitions, signal });
    if (signal?.aborted) return [];
    try {
      return await link.commands(durable).fetch({ max, waitMs: left(), signal });
    } catch (error) {
      forget(target);
      throw error;
    }
  };
};
