// Commands fetched by hand: waits for one, then takes what else is there. Every message that was sent to us is seen, even when
// the wait was given up.

import type { Msg } from "@nats-io/transport-node";
import { streamPlan } from "@toolplane/protocol/agents";
import type { FetchOptions } from "../bus.ts";
import { openPull, type PullEnd } from "./pull.ts";
import { connectionLost, unavailable } from "./requests.ts";
import type { Wire } from "./wire.ts";

/** Longer than the request itself: its answer may be lost with a leader. */
const GRACE_MS = 2_000;

const failure = (durable: string, reason: PullEnd): Error =>
  reason === "lost"
    ? connectionLost()
    : unavailable(`durable ${durable} does not answer; it is there as soon as its tools are registered`, reason);

/** Messages of a durable of commands; the taker answers each. */
export const fetchMessages = async (wire: Wire, durable: string, options: FetchOptions): Promise<readonly Msg[]> => {
  const { max, waitMs, signal } = options;
  if (!wire.connected()) throw connectionLost();
  const got: Msg[] = [];
  let ended: PullEnd | undefined;
  let wake = (): void => {};
  const settle = (): void => wake();
  const pull = openPull(
    wire,
    { stream: streamPlan("cmd").name, durable },
    {
      onMessage(message) {
        got.push(message);
        if (pull.outstanding() === 0) settle();
      },
      onSpent: settle,
      onEnd(reason) {
        ended = reason;
        settle();
      },
    },
  );
  const question = async (count: number, ms: number, noWait: boolean): Promise<void> => {
    if (signal?.aborted) return;
    const over = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const timer = setTimeout(() => {
      ended ??= "silent";
      settle();
    }, ms + GRACE_MS);
    signal?.addEventListener("abort", settle, { once: true });
    pull.ask({ count, expiresMs: ms, noWait });
    await over;
    clearTimeout(timer);
    signal?.removeEventListener("abort", settle);
  };
  await question(1, Math.max(1, waitMs), false);
  if (got.length === 1 && max > 1 && ended === undefined) await question(max - 1, 0, true);
  await pull.stop();
  if (got.length === 0 && ended !== undefined && !signal?.aborted) throw failure(durable, ended);
  return got;
};
