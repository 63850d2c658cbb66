// Stream items (B15) on core NATS: no stream stores them, current listeners get them. Without a connection they are dropped and
// counted; a listener that starts meanwhile gets items when the connection is back.

import type { Msg } from "@nats-io/transport-node";
import { isToolplaneError, parsePattern } from "@toolplane/protocol";
import type { StreamItem } from "../bus.ts";
import type { BusCounters } from "../bus-counters.ts";
import { inTime, systemClock } from "../clock.ts";
import { checkStreamItem } from "../message.ts";
import { connectionLost } from "./requests.ts";
import type { Wire } from "./wire.ts";
import { readMessage } from "./wire-message.ts";

/** A server answers in milliseconds; a hanging server is not waited for, because its listeners miss items anyway. */
const KNOWN_MS = 2_000;

export interface LiveStreams {
  publish(item: StreamItem): void;
  subscribe(pattern: string, handler: (item: StreamItem) => void): Promise<() => void>;
  close(): void;
}

/** Undefined for a message that is not a stream item: a foreign client may publish anything. */
const tryReadItem = (message: Msg): StreamItem | undefined => {
  const read = readMessage(message);
  if (!read.ok) return undefined;
  const item = { subject: message.subject, payload: read.payload };
  try {
    checkStreamItem(item);
    return item;
  } catch (error) {
    if (isToolplaneError(error)) return undefined;
    throw error;
  }
};

export const createLiveStreams = (wire: Wire, counters: BusCounters): LiveStreams => {
  const { nc, log } = wire;
  const stops = new Set<() => void>();
  let closed = false;

  const receive = (message: Msg, handler: (item: StreamItem) => void): void => {
    try {
      const item = tryReadItem(message);
      if (item === undefined) counters.streamItemsDropped++;
      else handler(item);
    } catch {
      log.warn("a stream subscriber failed", { subject: message.subject });
    }
  };

  /** The server knows our subscriptions, or will: the client sends all of them whenever it connects. */
  const known = async (): Promise<void> => {
    if (!wire.connected()) return;
    const flushed = nc.flush().catch(() => {});
    await inTime(systemClock, KNOWN_MS, flushed);
  };

  return {
    publish(item) {
      checkStreamItem(item);
      if (closed) return;
      counters.streamItems++;
      try {
        if (wire.connected()) return nc.publish(item.subject, item.payload);
      } catch {
        // Larger than this server takes, or closing: dropped like one sent without a connection.
      }
      counters.streamItemsDropped++;
    },
    async subscribe(pattern, handler) {
      const { text } = parsePattern(pattern);
      if (nc.isClosed()) throw connectionLost();
      const subscription = nc.subscribe(text, {
        callback: (error, message) => {
          if (error === null) receive(message, handler);
        },
      });
      const stop = (): void => {
        stops.delete(stop);
        subscription.unsubscribe();
      };
      stops.add(stop);
      await known();
      return stop;
    },
    close() {
      closed = true;
      for (const stop of [...stops]) stop();
    },
  };
};
