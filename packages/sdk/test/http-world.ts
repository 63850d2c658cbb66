// The HTTP gateway with a clock that stands still and a server that answers as it is told.

import type { ToolGateway } from "../src/gateway/gateway.ts";
import { createHttpGateway } from "../src/http/http-gateway.ts";
import type { Clock } from "../src/ports/clock.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { createRecordingLog } from "./recording-log.ts";
import { countingIds } from "./sample-call.ts";
import { type Answerer, createScriptedServer, type ScriptedServer } from "./scripted-server.ts";

export interface HttpWorld extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly gateway: ToolGateway;
  readonly clock: ManualClock;
  readonly log: ReturnType<typeof createRecordingLog>;
}

const START = Date.parse("2026-11-15T00:00:00Z");

export const createHttpWorld = async (answer: Answerer, hasty?: Clock): Promise<HttpWorld> => {
  const server = await createScriptedServer(answer);
  const clock = createManualClock(START);
  const log = createRecordingLog();
  const gateway = createHttpGateway({
    url: server.url,
    token: "tok-123",
    projectId: "demo",
    clock: hasty ?? clock,
    random: () => 0,
    ids: countingIds(),
    log,
  });
  return { server, gateway, clock, log, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
};
