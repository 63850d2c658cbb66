// One connection to NATS, shared by all parts of a process. It reconnects without end; meanwhile requests fail with
// `upstream_unavailable` and may be repeated.

import type { HeaderMap } from "@toolplane/protocol";
import type { CommandSource } from "../bus.ts";

export interface NatsOptions {
  /** One address or several, separated by commas: `nats://127.0.0.1:4222`, `tls://...`. May carry user and password. */
  readonly url: string;
  /** As operators see it in the server's list of connections. */
  readonly name: string;
  /** The text of a credentials file (JWT and key). */
  readonly credentials?: string | undefined;
  readonly tls?:
    | { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined }
    | undefined;
  /** The inbox for replies; needed for a user whose permissions name another inbox than the default. */
  readonly inboxPrefix?: string | undefined;
  /** How long the first connection may take. */
  readonly connectMs?: number | undefined;
}

export interface NatsRequest {
  readonly subject: string;
  readonly headers: HeaderMap;
  readonly payload: string;
}

export interface NatsReply {
  readonly headers: HeaderMap;
  readonly payload: string;
}

/** An answer as a responder gives it. */
export interface GivenReply extends NatsReply {
  /**
   * Called when the server says that no client listens at the reply address. Never called for a request from another account: the server does not
   * know who listens there.
   */
  readonly unheard?: (() => void) | undefined;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A request as it arrives. */
export interface InboundRequest extends NatsRequest {
  /** Where the answer goes; undefined when none is awaited. The sender chose it, so the responder checks it first. */
  readonly reply?: string | undefined;
  /** Why its headers or its payload could not be read as text; both are empty then, and the answer says so. */
  readonly fault?: string | undefined;
}

/** Answers requests, or leaves one unanswered. A responder that throws sends no answer; its maker logs the error. */
export type Responder = (request: InboundRequest) => Promise<GivenReply | undefined>;

export interface NatsLink {
  connected(): boolean;
  /** The largest message the server takes, headers included; undefined while that is not known. */
  maxPayload?(): number | undefined;
  /** Runs after every reconnection. Returns how to stop. */
  onReconnect(listener: () => void): () => void;
  /** One question, one answer; throws `upstream_unavailable` when no answer comes in time. */
  request(request: NatsRequest, options: RequestOptions): Promise<NatsReply>;
  /** Serves a pattern and shares its requests with all members of the queue. Resolves when the server has the subscription. */
  respond(pattern: string, queue: string, responder: Responder): Promise<{ stop(): Promise<void> }>;
  /** The commands of a durable that another process keeps. */
  commands(durable: string): CommandSource;
  close(): Promise<void>;
}
