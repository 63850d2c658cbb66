// How a client reaches its plane: over HTTP, or inside the same process. A way only carries requests; keys, retries, waiting and
// typed errors are in the client, and the same for both ways. Bodies are those of the HTTP API.

import { ToolplaneError } from "@toolplane/protocol";

export type Body = Readonly<Record<string, unknown>>;

export interface CallAsk {
  readonly toolName: string;
  readonly arguments: unknown;
  /** Made once for a call: the same request with the same key is the same call. */
  readonly key: string;
  readonly agentId?: string | undefined;
  /** Not before this moment, as an ISO time. */
  readonly notBefore?: string | undefined;
  /** The latest time for the answer, by the clock of this process. */
  readonly untilMs: number;
}

export interface TurnBudget {
  readonly steps?: number | undefined;
  readonly tokens?: number | undefined;
  readonly seconds?: number | undefined;
}

export interface TurnAsk {
  readonly agentId: string;
  readonly instruction: string;
  readonly key: string;
  readonly contextBoxId?: string | undefined;
  /** The turn that is continued. */
  readonly continued?: string | undefined;
  readonly budget?: TurnBudget | undefined;
}

/** One event as it came: `evt` from the log, with an id to continue after; `str` items are not stored and have no id. */
export interface RawEvent {
  readonly id: string | undefined;
  readonly event: string;
  /** Empty when only the id was sent: how far the log has come. */
  readonly data: string;
}

export interface Way {
  readonly projectId: string;
  /** Where the plane is, for messages. */
  readonly place: string;
  /** Whether a plane was ever there: it answered, or it took a request. */
  isReached(): boolean;
  /**
   * Makes the call or finds it by its key; answers when it is settled or the wait is over. `sent` is called when the request leaves:
   * a call that was given up before that does not exist.
   */
  makeCall(ask: CallAsk, signal: AbortSignal | undefined, sent?: () => void): Promise<Body>;
  /** The id of the call that has this key, if there is one. Makes nothing. */
  findCall(
    ask: Pick<CallAsk, "toolName" | "key" | "agentId">,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined>;
  readCall(callId: string, waitMs: number, signal: AbortSignal | undefined): Promise<Body>;
  cancelCall(callId: string, reason: string | undefined): Promise<Body>;
  explainCall(callId: string): Promise<Body>;
  startTurn(ask: TurnAsk): Promise<Body>;
  readTurn(turnId: string, waitMs: number, signal: AbortSignal | undefined): Promise<Body>;
  stopTurn(turnId: string, reason: string | undefined): Promise<Body>;
  /** Every tool in force, as the API lists them. */
  listTools(): Promise<readonly Body[]>;
  /** One connection to the events; events that arrived together are given together. It ends when the connection does. */
  openEvents(after: string | undefined, signal: AbortSignal): Promise<AsyncIterable<readonly RawEvent[]>>;
  close(): Promise<void>;
}

/** The JSON of what a caller gave; a value that JSON cannot express is refused at once. */
export const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "it cannot be read";
    throw new ToolplaneError("bad_request", `the arguments are not JSON: ${why.split("\n")[0]}`, { cause });
  }
};
