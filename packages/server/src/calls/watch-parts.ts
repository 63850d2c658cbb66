// The parts of one call's result while its service makes it. Nothing of them is stored: a reader gets what is sent while it listens, and
// then how the call ended. A reader that comes late, or is slower than the parts, misses some; the result has everything.

import { createAlarm, type Engine, isSettled, systemClock } from "@toolplane/engine";
import { isRecord, partStreamSubject, tryParseJsonStrict } from "@toolplane/protocol";
import { createWaitingItems } from "../http/waiting-items.ts";

const LOOK_AGAIN_MS = 20_000;

export interface PartWatch extends Disposable {
  /** The parts since the last look, as they were sent. */
  takeAll(): readonly unknown[];
  /** How many were dropped since the last look. */
  takeDropped(): number;
  /** How the call ended; undefined while it goes on. */
  status(): string | undefined;
  /** Waits until something happens, or this long. */
  wait(ms: number): Promise<void>;
  readonly ring: () => void;
}

export const watchParts = async (
  engine: Pick<Engine, "bus" | "calls">,
  key: { readonly projectId: string; readonly toolCallId: string },
  signal: AbortSignal,
): Promise<PartWatch> => {
  const facts = await engine.calls.facts(key);
  const alarm = createAlarm(systemClock);
  const items = createWaitingItems();
  const subject = partStreamSubject({ projectId: facts.projectId, channelId: facts.channelId }, facts.agentId);
  const stop = await engine.bus.subscribeStream(subject, (item) => {
    items.push(item);
    alarm.wake();
  });
  let ended: string | undefined;
  const look = async (): Promise<void> => {
    const { status } = await engine.calls.get(key);
    if (isSettled(status)) ended = status;
    alarm.wake();
  };
  const follow = async (): Promise<void> => {
    await look();
    while (ended === undefined && !signal.aborted) {
      await engine.calls.wait(key, LOOK_AGAIN_MS, signal);
      await look();
    }
  };
  void follow().catch(() => {
    // The store is away, or the plane closes: the reader is told that the stream ends, and comes back.
    ended ??= "unknown";
    alarm.wake();
  });
  return {
    takeAll: () =>
      items.takeAll().flatMap(({ payload }) => {
        const value = tryParseJsonStrict(payload);
        return isRecord(value) && value.tool_call_id === key.toolCallId ? [value] : [];
      }),
    takeDropped: items.takeDropped,
    status: () => ended,
    wait: (ms) => alarm.wait(ms),
    ring: alarm.wake,
    [Symbol.dispose]: stop,
  };
};
