// Publishing without a transaction of the caller's: messages of several callers at one moment are one insert and one ring.

import type { BusMessage } from "@toolplane/bus";
import { failTogether } from "../bus/fail-together.ts";
import { createCoalescer } from "../coalescer/coalescer.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Queryer } from "../sql/database.ts";
import { insertMessageRows, planMessageRow } from "./append-messages.ts";
import type { MessageRow } from "./messages.sql.ts";

export interface MessageWriterOptions {
  readonly db: Queryer;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  /** Throws for a valid message that is not carried here. */
  readonly check?: ((message: BusMessage) => void) | undefined;
  /** Called after each flush with the number of its messages that were new. */
  readonly written?: ((count: number) => void) | undefined;
}

export interface MessageWriter {
  /** Resolves when every message is stored; all are checked before any is (B2). */
  publish(messages: readonly BusMessage[]): Promise<void>;
  idle(): Promise<void>;
}

export const createMessageWriter = ({ db, doorbell, faults, check, written }: MessageWriterOptions): MessageWriter => {
  const writer = createCoalescer<MessageRow, undefined>({
    bytesOf: ({ headers, payload }) => headers.length + payload.length,
    flush: failTogether(async (rows) => {
      await faults.at("publish:before-commit");
      const count = await insertMessageRows(db, rows);
      await faults.at("publish:after-commit");
      written?.(count);
      doorbell.ring("messages");
      return rows.map(() => undefined);
    }),
  });
  return {
    async publish(messages) {
      const rows = messages.map(planMessageRow);
      if (check !== undefined) messages.forEach(check);
      await Promise.all(rows.map((row) => writer.submit(row)));
    },
    idle: () => writer.idle(),
  };
};
