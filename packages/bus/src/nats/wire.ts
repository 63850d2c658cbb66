// The internals of a link, for this adapter's own files. They are kept apart from the link, so that the link that others see
// (and may imitate in their tests) holds only what they need.

import type { NatsConnection } from "@nats-io/transport-node";
import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { inTime, LATE, systemClock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { NatsLink } from "./link.ts";
import { connectionLost, type Requests, unavailable } from "./requests.ts";

export interface Wire {
  readonly nc: NatsConnection;
  readonly requests: Requests;
  readonly log: Log;
  readonly inboxPrefix: string | undefined;
  connected(): boolean;
  onReconnect(listener: () => void): () => void;
  /** Runs when the connection is lost. */
  onLost(listener: () => void): () => void;
}

const wires = new WeakMap<NatsLink, Wire>();

export const keepWire = (link: NatsLink, wire: Wire): void => {
  wires.set(link, wire);
};

export const wireOf = (link: NatsLink): Wire => {
  const wire = wires.get(link);
  if (wire === undefined) throw new UsageError("the link does not come from openNatsLink");
  return wire;
};

/** Waits for a request of the client library, but only as long as there is a connection. */
export const whileConnected = async <T>(wire: Wire, ask: () => Promise<T>): Promise<T> => {
  if (!wire.connected()) throw connectionLost();
  const lost = Promise.withResolvers<never>();
  const forget = wire.onLost(() => lost.reject(connectionLost()));
  try {
    return await Promise.race([ask(), lost.promise]);
  } finally {
    forget();
  }
};

/** A server answers a ping in milliseconds. */
const CONFIRM_MS = 5_000;

/** Resolves when the server knows of a subscription; `auth_failed` when it refused it. */
export const confirmSubscribed = async (wire: Wire, pattern: string, refused: () => boolean): Promise<void> => {
  const flush = (): Promise<void> =>
    wire.nc.flush().catch(() => {
      throw connectionLost();
    });
  const answered = await inTime(systemClock, CONFIRM_MS, whileConnected(wire, flush));
  if (answered === LATE)
    throw unavailable(`NATS did not confirm within ${CONFIRM_MS / 1_000} s that it delivers ${pattern}`, "timeout");
  if (refused())
    throw new ToolplaneError(
      "auth_failed",
      `this NATS user may not listen to ${pattern}; see its permissions on the server`,
      {
        detail: { subject: pattern },
      },
    );
};
