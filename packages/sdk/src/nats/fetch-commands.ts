// Commands from the durable that the engine keeps for a target. While NATS is away it is waited for. A durable that does not
// exist would be met with silence, so it is asked for first, and given a moment: the engine makes it when the first tool of
// the target is registered, and again after NATS lost its streams.

import type { Delivery, FetchOptions } from "@toolplane/bus";
import type { NatsLink } from "@toolplane/bus/nats";
import { isRecord, ToolplaneError, tryParseJsonStrict } from "@toolplane/protocol";
import { streamPlan, toolCommandSubscription } from "@toolplane/protocol/agents";
import { type BackoffShape, planBackoff } from "../gateway/backoff.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";

export interface FetchDeps {
  readonly link: Pick<NatsLink, "connected" | "onReconnect" | "request" | "commands">;
  /** One whose waits end when NATS is back. */
  readonly clock: Clock;
  readonly random: Random;
}

/** None when nothing came in time or the signal aborted. */
export type FetchCommands = (target: string, options: FetchOptions) => Promise<readonly Delivery[]>;

/** An engine that has just learned of a target needs milliseconds, one that lost its streams a second or two. */
const MISSING_MS = 3_000;
const MISSING_BACKOFF: BackoffShape = { baseMs: 25, maxMs: 500 };
const INFO_TIMEOUT_MS = 2_000;

export const createCommandFetch = ({ link, clock, random }: FetchDeps): FetchCommands => {
  /** Durables that are there as far as is known. */
  const known = new Set<string>();
  // A server that comes back may have lost everything. Listens as long as the link lives.
  link.onReconnect(() => known.clear());

  const isThere = async (durable: string, signal: AbortSignal | undefined): Promise<boolean> => {
    if (known.has(durable)) return true;
    const subject = `$JS.API.CONSUMER.INFO.${streamPlan("cmd").name}.${durable}`;
    try {
      const { payload } = await link.request(
        { subject, headers: {}, payload: "" },
        { timeoutMs: INFO_TIMEOUT_MS, signal },
      );
      const info = tryParseJsonStrict(payload);
      return !(isRecord(info) && isRecord(info.error));
    } catch {
      // Who may not ask that just tries.
      return true;
    }
  };

  const whenThere = async (durable: string, waitMs: number, signal: AbortSignal | undefined): Promise<void> => {
    const end = clock.now() + Math.min(waitMs, MISSING_MS);
    for (let failures = 1; !(await isThere(durable, signal)); failures += 1) {
      const pauseMs = planBackoff(failures, MISSING_BACKOFF, random);
      if (clock.now() + pauseMs > end) {
        throw new ToolplaneError(
          "upstream_unavailable",
          `NATS has no durable ${durable}: the plane makes it as soon as it is connected and a tool of the target is registered`,
        );
      }
      await clock.sleep(pauseMs, signal);
      if (signal?.aborted) return;
    }
    known.add(durable);
  };

  return async (target, { max, waitMs, signal }) => {
    const end = clock.now() + waitMs;
    const left = (): number => Math.max(end - clock.now(), 0);
    const { durable } = toolCommandSubscription(target);
    if (!link.connected()) await clock.sleep(left(), signal);
    if (!signal?.aborted) await whenThere(durable, left(), signal);
    if (signal?.aborted) return [];
    try {
      return await link.commands(durable).fetch({ max, waitMs: left(), signal });
    } catch (error) {
      known.delete(durable);
      throw error;
    }
  };
};
