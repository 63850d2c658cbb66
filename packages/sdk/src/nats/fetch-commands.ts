// Fetches commands from the durable that the engine keeps for a target of this project. While NATS is away, the fetch waits. The
// plane makes the durable when a service attaches, and drops it when no service has attached for long. So a service attaches
// before its first fetch, after NATS was away, after a failed fetch, and from time to time.

import type { Delivery, FetchOptions } from "@toolplane/bus";
import type { NatsLink } from "@toolplane/bus/nats";
import { isFilled, isRecord, ToolplaneError } from "@toolplane/protocol";
import type { AskGateway } from "../gateway/wire-gateway.ts";
import type { Clock } from "../ports/clock.ts";

export interface FetchDeps {
  readonly link: Pick<NatsLink, "connected" | "onReconnect" | "commands">;
  readonly ask: AskGateway;
  /** A clock whose waits end when NATS is back. */
  readonly clock: Clock;
}

/** None when nothing came in time or the signal aborted. */
export type FetchCommands = (target: string, options: FetchOptions) => Promise<readonly Delivery[]>;

/** A small part of the day after which the plane drops a durable. */
const ATTACH_AGAIN_MS = 5 * 60 * 1000;

interface Attached {
  readonly durable: string;
  readonly at: number;
}

export const createCommandFetch = ({ link, ask, clock }: FetchDeps): FetchCommands => {
  const attached = new Map<string, Attached>();
  // A server that comes back may have lost everything. This listener lives as long as the link.
  link.onReconnect(() => attached.clear());

  const attach = async (target: string, signal: AbortSignal | undefined): Promise<string> => {
    const known = attached.get(target);
    if (known !== undefined && clock.now() - known.at < ATTACH_AGAIN_MS) return known.durable;
    const { body } = await ask({ operation: "attach", body: { target }, signal });
    const durable = isRecord(body) ? body.durable : undefined;
    if (!isFilled(durable))
      throw new ToolplaneError("upstream_unavailable", "the plane's answer to attach names no durable");
    attached.set(target, { durable, at: clock.now() });
    return durable;
  };

  return async (target, { max, waitMs, signal }) => {
    const end = clock.now() + waitMs;
    const left = (): number => Math.max(end - clock.now(), 0);
    if (!link.connected()) await clock.sleep(left(), signal);
    if (signal?.aborted) return [];
    const durable = await attach(target, signal);
    if (signal?.aborted) return [];
    try {
      return await link.commands(durable).fetch({ max, waitMs: left(), signal });
    } catch (error) {
      attached.delete(target);
      throw error;
    }
  };
};
