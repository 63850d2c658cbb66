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

export const held = { toolCallId: "call/1", leaseId: "lease_1" };
export const settlement = {
  toolCallId: "call_1",
  leaseId: "lease_1",
  status: "success",
  result: { words: 3 },
  error: null,
} as const;
export const settledBody = { tool_result_card_id: "card_r", idempotent: false };

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
