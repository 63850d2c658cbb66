// The progress of one run on its way out: JSON only, small, scrubbed across parts, numbered from 0.

import { type CGContext, copyJson, type JsonValue } from "@toolplane/protocol";
import type { ToolGateway } from "../gateway/gateway.ts";
import type { Log } from "../ports/log.ts";
import { createPartScrubber } from "../secrets/part-scrubber.ts";
import type { Scrubber } from "../secrets/scrubber.ts";

/** A part is a short piece of progress; larger data belongs into the result. */
const MAX_PART_BYTES = 64 * 1024;

export interface PartsDeps {
  readonly gateway: Pick<ToolGateway, "sendParts">;
  readonly log: Log;
  readonly scrubber: Scrubber;
  readonly context: CGContext;
  readonly toolCallId: string;
  readonly leaseId: string | undefined;
}

export interface Parts {
  emit(part: JsonValue): void;
  /** The run is over: waiting parts are sent, and no more are accepted. */
  close(): void;
}

export const createParts = ({ gateway, log, scrubber, context, toolCallId, leaseId }: PartsDeps): Parts => {
  let index = 0;
  let closed = false;
  const scrubbed = createPartScrubber(scrubber, (part) => {
    try {
      gateway.sendParts({ context, toolCallId, leaseId, parts: [{ index, part }] });
    } catch {
      log.warn("a part could not be sent", { index });
    }
    index += 1;
  });
  return {
    emit(part) {
      if (closed) return;
      let json: JsonValue;
      try {
        json = copyJson(part, { maxBytes: MAX_PART_BYTES });
      } catch (error) {
        log.warn("a part that the tool emitted is not sent: it is not JSON or too large", {
          reason: error instanceof Error ? error.message : "unknown",
        });
        return;
      }
      scrubbed.push(json);
    },
    close() {
      if (closed) return;
      closed = true;
      scrubbed.flush();
    },
  };
};
