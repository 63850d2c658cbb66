// One connection to NATS, shared by everything in a process that needs it. It reconnects for as long as it takes; what
// is asked of it meanwhile fails with `upstream_unavailable` and may be asked again.

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
  /** Replies come here; a user whose permissions name another inbox than the default gives it. */
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

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A request as it arrives. */
export interface InboundRequest extends NatsRequest {
  /** Where the answer is to go; undefined when nobody waits. The sender chose it: who answers judges it first. */
  readonly reply?: string | undefined;
  /** Why its headers or its payload could not be read as text; both are empty then, and the answer says so. */
  readonly fault?: string | undefined;
}

/** Answers requests, or leaves one unanswered; one that throws is answered with nothing and logged by whoever made it. */
export type Responder = (request: InboundRequest) => Promise<NatsReply | undefined>;

export interface NatsLink {
  connected(): boolean;
  /** The largest message the server takes, headers included; undefined while that is not known. */
  maxPayload?(): number | undefined;
  /** Runs after every reconnection. Returns how to stop. */
  onReconnect(listener: () => void): () => void;
  /** One question, one answer; `upstream_unavailable` when nobody answers in time. */
  request(request: NatsRequest, options: RequestOptions): Promise<NatsReply>;
  /** Serves a pattern together with all others of the queue. Resolves when the server knows. */
  respond(pattern: string, queue: string, responder: Responder): Promise<{ stop(): Promise<void> }>;
  /** The commands of a durable somebody keeps. */
  commands(durable: string): CommandSource;
  close(): Promise<void>;
}
