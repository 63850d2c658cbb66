// What stands behind a link, for this adapter's own files. Kept beside the link instead of in it, so that the link others
// see (and may imitate in their tests) is only what they need.

import type { NatsConnection } from "@nats-io/transport-node";
import { UsageError } from "@toolplane/protocol";
import type { Log } from "../log.ts";
import type { NatsLink } from "./link.ts";
import { connectionLost, type Requests } from "./requests.ts";

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

/** Waits for the client library's own requests, but not longer than there is a connection. */
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
