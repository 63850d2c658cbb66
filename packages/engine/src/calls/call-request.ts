// The request for a direct call, and what its caller is told when the call is stored.

import type { AfterExecution } from "@toolplane/protocol";
import type { Actor } from "../audit/audit.ts";
import type { CallStatus } from "./call.ts";
import type { CallAsk } from "./plan-call.ts";

export interface CallRequest extends CallAsk {
  readonly projectId: string;
  /** Minted by the engine's own ids when absent; never a provider's. */
  readonly toolCallId?: string | undefined;
  /** The asking actor; `sys.api` unless given. */
  readonly agentId?: string | undefined;
  readonly channelId?: string | undefined;
  /** How deep the caller says it is; the call is refused when the engine counts another depth (I9). */
  readonly saidDepth?: number | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** The person recorded for it, when it is a retry that a person asked for. */
  readonly actor?: Actor | undefined;
}

export interface Dispatched {
  readonly toolCallId: string;
  readonly agentTurnId: string;
  readonly callCardId: string;
  readonly traceId: string;
  readonly afterExecution: AfterExecution;
  readonly status: CallStatus;
  /** The key was used before with the same arguments: this is that call. */
  readonly idempotent: boolean;
}
