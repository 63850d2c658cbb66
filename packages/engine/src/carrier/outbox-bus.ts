// The bus of an engine with a carrier: publishing writes to the outbox, so that a message is sent because it was
// committed, in every process and also while the carrier is away (I3). Streams are the carrier's. A new durable of the
// carrier begins at what the relay brings there from then on, which may have been published a moment before (B11).

import type { Bus, CarrierBus, DrainOptions } from "@toolplane/bus";
import { ToolplaneError } from "@toolplane/protocol";
import type { MessageWriter } from "../outbox/message-writer.ts";

export const createOutboxBus = (carrier: CarrierBus, writer: MessageWriter): Bus => {
  let closing: Promise<void> | undefined;
  let closed = false;

  const closeAll = async (drain: DrainOptions): Promise<void> => {
    // Handlers that are being drained may still publish.
    await carrier.close(drain);
    closed = true;
    await writer.idle();
  };

  return {
    async publish(messages) {
      if (closed) throw new ToolplaneError("storage_error", "the bus is closed");
      await writer.publish(messages);
    },
    publishStream: (item) => {
      carrier.publishStream(item);
    },
    subscribeStream: (pattern, handler) => carrier.subscribeStream(pattern, handler),
    stats: () => carrier.stats(),
    close(drain = {}) {
      closing ??= closeAll(drain);
      return closing;
    },
  };
};
