// Serves requests: a subscription shared by all members of a queue, and an answer to the reply address. The responder decides
// whether an answer may go there, also for a request that could not be read.

import type { Msg } from "@nats-io/transport-node";
import type { Responder } from "./link.ts";
import { confirmSubscribed, type Wire } from "./wire.ts";
import { encodeMessage, readMessage } from "./wire-message.ts";

/** How reply addresses begin that the server made for a request from another account. */
const OTHER_ACCOUNT = "_R_.";

export const serveRequests = async (
  wire: Wire,
  at: { readonly pattern: string; readonly queue: string },
  responder: Responder,
): Promise<{ stop(): Promise<void> }> => {
  const { nc, log } = wire;
  const { pattern, queue } = at;
  const running = new Set<Promise<void>>();

  const answer = async (message: Msg): Promise<void> => {
    try {
      const read = readMessage(message);
      const said = read.ok
        ? { headers: read.headers, payload: read.payload }
        : { headers: {}, payload: "", fault: read.fault };
      const reply = message.reply === "" ? undefined : message.reply;
      const given = await responder({ subject: message.subject, ...said, reply });
      if (given === undefined || reply === undefined) return;
      const { headers, payload } = encodeMessage(given);
      const { unheard } = given;
      // The server makes up the addresses of other accounts, and knows nothing of who listens behind them.
      if (unheard !== undefined && !reply.startsWith(OTHER_ACCOUNT))
        wire.requests.tell(reply, payload, { headers, unheard });
      else nc.publish(reply, payload, headers === undefined ? {} : { headers });
    } catch {
      log.warn("a request was not answered", { subject: message.subject });
    }
  };

  let refused = false;
  const subscription = nc.subscribe(pattern, {
    queue,
    callback: (error, message) => {
      if (error !== null) {
        refused = true;
        return;
      }
      const work: Promise<void> = answer(message).finally(() => running.delete(work));
      running.add(work);
    },
  });
  await confirmSubscribed(wire, pattern, () => refused).catch((error: unknown) => {
    subscription.unsubscribe();
    throw error;
  });
  return {
    async stop() {
      if (!nc.isClosed() && wire.connected()) await subscription.drain().catch(() => {});
      else subscription.unsubscribe();
      await Promise.all(running);
    },
  };
};
