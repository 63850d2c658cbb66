// The way to a plane over HTTP: calls travel together (call-batcher.ts), every other operation is one request.

import { isRecord } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";
import { type Api, pathOf } from "./api.ts";
import { createCallBatcher } from "./call-batcher.ts";
import { readEvents } from "./event-stream.ts";
import { strangeBody } from "./strange-answer.ts";
import type { Body, Way } from "./way.ts";

export interface HttpWayOptions {
  readonly api: Api;
  readonly projectId: string;
  readonly clock: Clock;
  readonly close: () => Promise<void>;
}

/** The server sends a sign of life every 15 seconds. */
const SILENCE_MS = 40_000;
/** The longest wait the API takes. */
const MAX_WAIT_SECONDS = 300;
const PAGE = 500;

const secondsOf = (ms: number): number => Math.min(Math.max(ms, 0) / 1000, MAX_WAIT_SECONDS);

const NDJSON = "application/x-ndjson";
const EVENTS = "text/event-stream";

const itemsOf = ({ items }: Body): readonly Body[] => {
  if (!Array.isArray(items)) throw strangeBody("a list without items");
  return items.filter(isRecord);
};

export const createHttpWay = ({ api, projectId, clock, close }: HttpWayOptions): Way => {
  const path = (...segments: readonly string[]): string => pathOf("projects", projectId, ...segments);
  const post = (at: string, body: unknown, headers?: Record<string, string>): Promise<Body> =>
    api.request({ method: "POST", path: at, body, headers });
  const batchPath = path("calls", "batch");

  return {
    projectId,
    place: api.url,
    isReached: api.isReached,
    async findCall({ toolName, key, agentId }, signal) {
      const query = { tool_name: toolName, idempotency_key: key, agent_id: agentId, limit: 1 };
      const [found] = itemsOf(await api.request({ path: path("calls"), query, signal }));
      return typeof found?.tool_call_id === "string" ? found.tool_call_id : undefined;
    },
    makeCall: createCallBatcher({
      now: clock.now,
      lost: api.lost,
      sendOne: (text, waitMs, signal) =>
        api.request({
          method: "POST",
          path: path("calls"),
          upload: { text, type: "application/json" },
          signal,
          waitMs,
        }),
      send: (text, signal) =>
        api.open({
          method: "POST",
          path: batchPath,
          upload: { text, type: "application/json" },
          headers: { accept: NDJSON },
          answerType: NDJSON,
          signal,
          silenceMs: SILENCE_MS,
        }),
    }),
    readCall: (callId, waitMs, signal) =>
      api.request({
        path: path("calls", callId),
        query: waitMs <= 0 ? undefined : { wait_seconds: secondsOf(waitMs) },
        signal,
        waitMs: Math.max(waitMs, 0),
      }),
    cancelCall: (callId, reason) => post(path("calls", callId, "cancel"), { reason }),
    explainCall: (callId) => api.request({ path: path("calls", callId, "why") }),
    startTurn: ({ agentId, instruction, key, contextBoxId, continued, budget }) =>
      post(
        path("agents", agentId, "turns"),
        { instruction, context_box_id: contextBoxId, continue: continued, budget },
        { "idempotency-key": key },
      ),
    readTurn: (turnId, waitMs, signal) => {
      const seconds = secondsOf(waitMs);
      return api.request({
        path: path("turns", turnId),
        query: { wait_seconds: seconds },
        signal,
        waitMs: seconds * 1000,
      });
    },
    stopTurn: (turnId, reason) => post(path("turns", turnId, "stop"), { reason }),
    async listTools() {
      const tools: Body[] = [];
      const cursors = new Set<string>();
      for (let cursor: string | undefined; ; ) {
        const page = await api.request({ path: path("tools"), query: { limit: PAGE, cursor } });
        tools.push(...itemsOf(page));
        if (typeof page.next_cursor !== "string") return tools;
        if (cursors.has(page.next_cursor)) throw strangeBody("the pages of its list do not end");
        cursors.add(page.next_cursor);
        cursor = page.next_cursor;
      }
    },
    async openEvents(after, signal) {
      const headers = { accept: EVENTS, ...(after === undefined ? {} : { "last-event-id": after }) };
      const asked = { path: path("events"), headers, signal, silenceMs: SILENCE_MS, answerType: EVENTS };
      const { body } = await api.open(asked);
      return readEvents(body);
    },
    close,
  };
};
