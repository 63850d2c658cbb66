// The parts of one call's result while its service makes it. Nothing of them is stored: a reader gets what is sent while it listens, and
// then how the call ended. A reader that comes late, or is slower than the parts, misses some; the result has everything.
// Readers share what a part costs: one subscription for the parts of an agent, an item that is read and written as text once; and they
// take turns to send, so that sixty of them do not hold up everybody else.

import { createAlarm, createRota, type Engine, isSettled, type Rota, systemClock } from "@toolplane/engine";
import { isRecord, partStreamSubject } from "@toolplane/protocol";
import { createSharedStream, readItem, type SharedStream } from "../events/shared-stream.ts";
import { createWaitingItems, type StreamItem } from "../http/waiting-items.ts";

const LOOK_AGAIN_MS = 20_000;

export interface PartWatch extends Disposable {
  /** Resolves when it is this reader's turn to take and send. */
  turn(): Promise<void>;
  /** The parts since the last look, as events of a stream. */
  takeAll(): readonly string[];
  /** How many were dropped since the last look. */
  takeDropped(): number;
  /** How the call ended; undefined while it goes on. */
  status(): string | undefined;
  /** Waits until something happens, or this long. */
  wait(ms: number): Promise<void>;
  readonly ring: () => void;
}

interface Crowd {
  readonly stream: SharedStream;
  readonly turns: Rota;
}

/** What a reader sends in its turn may have a megabyte. */
const SENT_AT_ONCE = 4;
const crowds = new WeakMap<object, Crowd>();

const crowdOf = (bus: Engine["bus"]): Crowd => {
  const known = crowds.get(bus) ?? {
    stream: createSharedStream(bus, (subject) => subject),
    turns: createRota(SENT_AT_ONCE),
  };
  crowds.set(bus, known);
  return known;
};

const callOf = (item: StreamItem): unknown => {
  const value = readItem(item)?.payload;
  return isRecord(value) ? value.tool_call_id : undefined;
};

const texts = new WeakMap<StreamItem, string>();

const textOf = (item: StreamItem): string => {
  const text = texts.get(item) ?? `event: part\ndata: ${JSON.stringify(readItem(item)?.payload)}\n\n`;
  texts.set(item, text);
  return text;
};

export const watchParts = async (
  engine: Pick<Engine, "bus" | "calls">,
  key: { readonly projectId: string; readonly toolCallId: string },
  signal: AbortSignal,
): Promise<PartWatch> => {
  const facts = await engine.calls.facts(key);
  const alarm = createAlarm(systemClock);
  const items = createWaitingItems();
  const subject = partStreamSubject({ projectId: facts.projectId, channelId: facts.channelId }, facts.agentId);
  const { stream, turns } = crowdOf(engine.bus);
  const stop = await stream.listen(subject, (item) => {
    if (callOf(item) !== key.toolCallId) return;
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
    turn: turns.take,
    takeAll: () => items.takeAll().map(textOf),
    takeDropped: items.takeDropped,
    status: () => ended,
    wait: (ms) => alarm.wait(ms),
    ring: alarm.wake,
    [Symbol.dispose]: stop,
  };
};
