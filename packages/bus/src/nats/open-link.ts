// Opens a link: one connection, and what a process does with it besides the bus.

import type { Msg } from "@nats-io/transport-node";
import { createBusCounters } from "../bus-counters.ts";
import { inTime, systemClock } from "../clock.ts";
import type { Log } from "../log.ts";
import { createCommandSource } from "./command-source.ts";
import { openWire } from "./connection.ts";
import type { NatsLink, NatsOptions, NatsReply } from "./link.ts";
import { unavailable } from "./requests.ts";
import { serveRequests } from "./responders.ts";
import { keepWire } from "./wire.ts";
import { checkFits, encodeMessage, readMessage } from "./wire-message.ts";

/** How long a closing link waits for what it still has to send. */
const DRAIN_MS = 2_000;

const readReply = (message: Msg): NatsReply => {
  const read = readMessage(message);
  if (!read.ok) throw unavailable(`an answer could not be read: ${read.fault}`, "bad_answer");
  return { headers: read.headers, payload: read.payload };
};

export const openNatsLink = async (options: NatsOptions, deps: { readonly log: Log }): Promise<NatsLink> => {
  const { log } = deps;
  const wire = await openWire(options, log);
  const { nc, requests } = wire;
  const maxPayload = (): number | undefined => nc.info?.max_payload;

  /** The engine stores dead letters; here a message that is given up is only removed. */
  const bury = (): Promise<void> => Promise.resolve();

  const link: NatsLink = {
    connected: wire.connected,
    maxPayload,
    onReconnect: wire.onReconnect,
    async request(request, { timeoutMs, signal }) {
      const encoded = encodeMessage(request);
      checkFits(encoded, maxPayload());
      const { headers, payload } = encoded;
      return readReply(await requests.ask(request.subject, payload, { timeoutMs, signal, headers }));
    },
    respond: (pattern, queue, responder) => serveRequests(wire, { pattern, queue }, responder),
    commands: (durable) =>
      createCommandSource({ wire, clock: systemClock, log, counters: createBusCounters(), bury }, durable),
    async close() {
      if (nc.isClosed()) return;
      if (!wire.connected()) return nc.close();
      const drained = nc.drain().catch(() => {});
      await inTime(systemClock, DRAIN_MS, drained);
      if (!nc.isClosed()) await nc.close();
    },
  };
  keepWire(link, wire);
  return link;
};
