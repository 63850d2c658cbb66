// The bus on PostgreSQL: events are a log in the table that is also the outbox, so a message is there the moment its transaction
// commits (I3). Streams do not use that table. There are no consumers here: readers of the log keep their own position
// (event-log.ts), and work is a row that is claimed where it is.

import type { Bus, BusMessage } from "@toolplane/bus";
import { parseSubject, ToolplaneError } from "@toolplane/protocol";
import { createMessageWriter } from "../outbox/message-writer.ts";
import type { Ground } from "../ports/ground.ts";
import type { BusDoorbell } from "./postgres-doorbell.ts";
import { createStreams } from "./streams.ts";

export interface PostgresBusOptions extends Pick<Ground, "db" | "ids" | "clock" | "log" | "faults"> {
  readonly doorbell: BusDoorbell;
}

const refuseCommand = ({ subject }: BusMessage): void => {
  if (parseSubject(subject).category === "cmd")
    throw new ToolplaneError(
      "bad_request",
      "this plane has no bus beside its database, so no service takes commands here",
    );
};

export const createPostgresBus = ({ db, doorbell, ids, clock, log, faults }: PostgresBusOptions): Bus => {
  const streams = createStreams({ db, doorbell, clock, log, origin: ids.uuid() });
  let published = 0;
  let closing: Promise<void> | undefined;

  const refuseClosed = (): void => {
    if (closing !== undefined) throw new ToolplaneError("storage_error", "the bus is closed");
  };

  const writer = createMessageWriter({
    db,
    doorbell,
    faults,
    check: refuseCommand,
    written: (count) => {
      published += count;
    },
  });

  const closeAll = async (): Promise<void> => {
    await writer.idle();
    await streams.close();
  };

  return {
    async publish(messages) {
      refuseClosed();
      await writer.publish(messages);
    },
    publishStream: streams.publish,
    async subscribeStream(pattern, handler) {
      refuseClosed();
      return streams.subscribe(pattern, handler);
    },
    stats: () => ({ published, ...streams.stats() }),
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
};
