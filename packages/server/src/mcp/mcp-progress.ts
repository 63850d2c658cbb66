// Parts of a call as MCP progress. Parts are a lossy stream, so progress may miss steps; it never goes back.

import type { Engine } from "@toolplane/engine";
import { isRecord, type JsonValue, partStreamSubject } from "@toolplane/protocol";
import { readItem } from "../events/shared-stream.ts";

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface LogPart {
  readonly level: string;
  readonly data: JsonValue;
}

const LEVELS: ReadonlySet<unknown> = new Set([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
]);

/** `{log: {level, data}}` is a line for the client's log and no progress. */
export const readLogPart = (part: JsonValue): LogPart | undefined => {
  const said = isRecord(part) ? part.log : undefined;
  return isRecord(said) && LEVELS.has(said.level) && said.data !== undefined
    ? { level: String(said.level), data: said.data as JsonValue }
    : undefined;
};

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

/** `{progress, total?, message?}` says how far the work is; any other part counts as one step. */
export const planProgress = (part: JsonValue, before: number): Progress => {
  const said = isRecord(part) ? part : {};
  const message = typeof part === "string" ? part : said.message;
  return {
    progress: isNumber(said.progress) && said.progress > before ? said.progress : before + 1,
    ...(isNumber(said.total) ? { total: said.total } : {}),
    ...(typeof message === "string" ? { message: message.slice(0, 1_000).toWellFormed() } : {}),
  };
};

export interface PartsOptions {
  readonly engine: Pick<Engine, "bus">;
  readonly projectId: string;
  readonly channelId: string;
  readonly agentId: string;
  readonly heard: (part: JsonValue) => void;
}

export interface HeardParts extends Disposable {
  /** Parts of this call are passed on, those that came before included. */
  follow(toolCallId: string): void;
}

/** Parts that wait until the call has its id; a call that is stored within milliseconds has few. */
const MAX_WAITING = 64;

/** Listens before the call is made, so that its first parts are not missed. */
export const listenToParts = async (options: PartsOptions): Promise<HeardParts> => {
  const { engine, projectId, channelId, agentId, heard } = options;
  let followed: string | undefined;
  let waiting: { readonly callId: unknown; readonly part: JsonValue }[] = [];
  const stop = await engine.bus.subscribeStream(partStreamSubject({ projectId, channelId }, agentId), (item) => {
    const said = readItem(item)?.payload;
    if (!isRecord(said) || said.part === undefined) return;
    const one = { callId: said.tool_call_id, part: said.part as JsonValue };
    if (followed !== undefined) {
      if (one.callId === followed) heard(one.part);
    } else if (waiting.length < MAX_WAITING) waiting.push(one);
  });
  return {
    follow(toolCallId) {
      followed = toolCallId;
      for (const { callId, part } of waiting) if (callId === toolCallId) heard(part);
      waiting = [];
    },
    [Symbol.dispose]: stop,
  };
};
