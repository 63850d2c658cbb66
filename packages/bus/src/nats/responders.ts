// Serving requests: a subscription shared by all of a queue, and an answer to where the asker said. A request that is no
// text of the protocol gets no answer: whom it would go to is the sender's choice, and only the responder can judge that.

import type { Msg } from "@nats-io/transport-node";
import type { Responder } from "./link.ts";
import { connectionLost } from "./requests.ts";
import type { Wire } from "./wire.ts";
import { encodeHeaders, readMessage } from "./wire-message.ts";

export const serveRequests = async (
  wire: Wire,
  at: { readonly pattern: string; readonly queue: string },
  responder: Responder,
): Promise<{ stop(): Promise<void> }> => {
  const { nc, log } = wire;
  const { pattern, queue } = at;
  if (!wire.connected()) throw connectionLost();
  const running = new Set<Promise<void>>();

  const answer = async (message: Msg): Promise<void> => {
    try {
      const read = readMessage(message);
      if (!read.ok) return log.warn("a request could not be read", { subject: message.subject, fault: read.fault });
      const { headers, payload } = read;
      const { subject } = message;
      const reply = message.reply === "" ? undefined : message.reply;
      const given = await responder({ subject, headers, payload, reply });
      if (given === undefined || reply === undefined) return;
      nc.publish(reply, given.payload, { headers: encodeHeaders(given.headers) });
    } catch {
      log.warn("a request was not answered", { subject: message.subject });
    }
  };

  const subscription = nc.subscribe(pattern, {
    queue,
    callback: (error, message) => {
      if (error !== null) return;
      const work: Promise<void> = answer(message).finally(() => running.delete(work));
      running.add(work);
    },
  });
  await nc.flush();
  return {
    async stop() {
      if (!nc.isClosed() && wire.connected()) await subscription.drain().catch(() => {});
      else subscription.unsubscribe();
      await Promise.all(running);
    },
  };
};
