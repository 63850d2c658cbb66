// Messages of MCP sessions that are kept for a client that reconnects. Bounded in number, in bytes of a session and in bytes of all: a
// message that does not fit is not kept, and its client asks again by its key.

import type { EventStore } from "@modelcontextprotocol/server";

const MAX_EVENTS = 256;
const MAX_BYTES = 512 * 1024;
const MAX_BYTES_IN_ALL = 64 * 1024 * 1024;

interface KeptEvent {
  readonly id: string;
  readonly stream: string;
  readonly message: unknown;
  readonly bytes: number;
}

export interface SessionEvents extends EventStore, Disposable {}

export interface EventStores {
  open(): SessionEvents;
  /** Bytes that all stores hold. */
  held(): number;
}

/** Characters of the message as it is sent; close enough to what it takes. */
const bytesOf = (message: unknown): number => JSON.stringify(message).length * 2;

export const createEventStores = ({ maxBytes = MAX_BYTES, maxInAll = MAX_BYTES_IN_ALL } = {}): EventStores => {
  let heldInAll = 0;

  const open = (): SessionEvents => {
    const events: KeptEvent[] = [];
    let held = 0;
    let count = 0;
    let isClosed = false;

    const dropFirst = (): void => {
      const bytes = events.shift()?.bytes ?? 0;
      held -= bytes;
      heldInAll -= bytes;
    };

    return {
      async storeEvent(stream, message) {
        const id = `${++count}`;
        const bytes = bytesOf(message);
        if (isClosed || bytes > maxBytes) return id;
        while (events.length >= MAX_EVENTS || held + bytes > maxBytes) dropFirst();
        if (heldInAll + bytes > maxInAll) return id;
        events.push({ id, stream, message, bytes });
        held += bytes;
        heldInAll += bytes;
        return id;
      },
      async replayEventsAfter(lastEventId, { send }) {
        const at = events.findIndex(({ id }) => id === lastEventId);
        const stream = events[at]?.stream ?? "";
        if (at >= 0)
          for (const event of events.slice(at + 1))
            if (event.stream === stream) await send(event.id, event.message as Parameters<typeof send>[1]);
        return stream;
      },
      async getStreamIdForEventId(eventId) {
        return events.find(({ id }) => id === eventId)?.stream;
      },
      [Symbol.dispose]() {
        isClosed = true;
        while (events.length > 0) dropFirst();
      },
    };
  };

  return { open, held: () => heldInAll };
};
