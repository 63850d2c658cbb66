// The NATS gateway with a clock that stands still and a connection that does as it is told.

import { createNatsToolGateway } from "../src/nats/nats-tool-gateway.ts";
import { createManualClock } from "./manual-clock.ts";
import { createRecordingLog } from "./recording-log.ts";
import { countingIds } from "./sample-call.ts";
import { type Answering, createScriptedLink } from "./scripted-link.ts";

export const START = Date.parse("2026-11-15T00:00:00Z");

export const createNatsWorld = (answer?: Answering) => {
  const link = createScriptedLink(answer);
  const clock = createManualClock(START);
  const log = createRecordingLog();
  const gateway = createNatsToolGateway({
    link,
    projectId: "demo",
    actor: "tool.text",
    holder: "text@here:1",
    clock,
    random: () => 1,
    ids: countingIds(),
    log,
  });
  return { link, clock, log, gateway };
};
