// What the model server can be told to answer: a completion, correct or not, or something else.

import type { JsonObject } from "@toolplane/protocol";

export interface ReplyToolCall {
  /** Left out on the wire when undefined. */
  readonly id?: string | undefined;
  readonly name: string;
  /** Text is sent as it is, whether it is JSON or not. */
  readonly arguments?: unknown;
}

export interface Completion {
  readonly text?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly toolCalls?: readonly ReplyToolCall[] | undefined;
  readonly usage?: JsonObject | undefined;
  /** Left out: `tool_calls` when the reply has tool calls, otherwise `stop`. Null: the answer never says that it is finished. */
  readonly finishReason?: string | null | undefined;
  /** Characters of text and of arguments in one chunk. */
  readonly chunkChars?: number | undefined;
  /** In a stream, after that many chunks... */
  readonly trouble?: StreamTrouble | undefined;
}

export interface StreamTrouble {
  readonly afterChunks: number;
  /** `cut`: the connection breaks. `malformed`: a chunk that is not JSON. `error`: a chunk that reports an error. */
  readonly kind?: "cut" | "malformed" | "error" | undefined;
  /** Nothing more is sent before this resolves. */
  readonly until?: Promise<void> | undefined;
}

export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

export type ModelReply =
  | Completion
  | Refusal
  /** Never answered; the client has to give up. */
  | { readonly hang: true }
  /** The connection breaks before anything is answered. */
  | { readonly drop: true }
  /** Status 200 and this text. */
  | { readonly raw: string; readonly contentType?: string | undefined };

export const isCompletion = (reply: ModelReply): reply is Completion =>
  !("status" in reply) && !("hang" in reply) && !("drop" in reply) && !("raw" in reply);
