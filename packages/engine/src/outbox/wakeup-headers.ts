// The headers of every wakeup: those of its context without step, call and depth, and the publisher's stamps.

import { type CGContext, egress, stampHeaders } from "@toolplane/protocol";
import type { Ids } from "../ports/ids.ts";

export const SENDER = "toolplane";

export const wakeupHeaders = (context: CGContext, means: { readonly ids: Ids; readonly nowMs: number }): string =>
  JSON.stringify(
    stampHeaders(egress(context, means.ids, "doorbell"), {
      timestampMs: means.nowMs,
      msgType: "AgentWakeupPayload",
      sender: SENDER,
    }),
  );
