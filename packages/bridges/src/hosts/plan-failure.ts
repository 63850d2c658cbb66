// What happens to a call when something goes wrong: tried again, or failed with a code.
//   PF1. It is tried again only if its request never reached a process, or if its tool says that running twice does no harm.
//   PF2. It is never tried again after its deadline or a cancellation: those end it at once.
//   PF3. A message names the host and the reason; never a stack, an argument or a piece of output (I8).

import { ToolplaneError } from "@toolplane/protocol";
import type { HostFailure } from "@toolplane/protocol/host";

/** For a sentence that has already named the host. */
export const withoutHostName = (host: string, message: string): string => {
  const prefix = `host ${host}: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
};

export interface LostAttempt {
  /** Whether the request may have reached the process. */
  readonly written: boolean;
  readonly retrySafe: boolean;
  /** Attempts so far, the lost one included. */
  readonly attempts: number;
  readonly maxAttempts: number;
}

export type LostPlan =
  | { readonly again: true }
  | { readonly again: false; readonly code: "outcome_unknown" | "upstream_unavailable" };

/** A process is gone, and with it an attempt. */
export const planLost = (lost: LostAttempt): LostPlan => {
  if (lost.written && !lost.retrySafe) return { again: false, code: "outcome_unknown" };
  return lost.attempts < lost.maxAttempts ? { again: true } : { again: false, code: "upstream_unavailable" };
};

export const lostError = (
  code: "outcome_unknown" | "upstream_unavailable",
  host: string,
  why: string,
  attempts: number,
  said: readonly string[] = [],
): ToolplaneError =>
  new ToolplaneError(
    code,
    code === "outcome_unknown"
      ? `host ${host}: ${why} while the call was running; look whether it had its effect before calling again`
      : `host ${host}: ${why}; the call was not completed after ${attempts} ${attempts === 1 ? "try" : "tries"}`,
    {
      detail: { host, attempts },
      // What it wrote last is for the operator's diagnostics; no part of the message.
      cause: { name: "HostEnded", message: why, stack: [why, ...said].join("\n") },
    },
  );

/** What our own hosts answer when a tool returned something that is not JSON. */
const NOT_JSON = "NotJson";

/** `ok: false`: the host's own error. Its stack is for the operator and not for the call. */
export const hostSaidError = (host: string, { error }: HostFailure): ToolplaneError =>
  // The same as for a service whose tool returned what JSON cannot say.
  new ToolplaneError(
    error.type === NOT_JSON ? "result_not_serializable" : "internal_error",
    `host ${host} failed: ${error.type}: ${error.detail}`,
    {
      detail: { type: error.type, detail: error.detail },
      // For the operator's diagnostics; no part of the message.
      cause: { name: error.type, message: error.detail, stack: error.stack },
    },
  );

export const timeoutError = (host: string, ms: number, written: boolean): ToolplaneError =>
  new ToolplaneError(
    "tool_timeout",
    written
      ? `host ${host} did not answer within ${Math.round(ms)} ms`
      : `host ${host} had no process free for the call within ${Math.round(ms)} ms`,
    { detail: { host, started: written } },
  );

export const canceledError = (host: string): ToolplaneError =>
  new ToolplaneError("canceled", `the call to host ${host} was canceled`, { detail: { host } });

export const tooLongError = (host: string, limit: number): ToolplaneError =>
  new ToolplaneError("result_too_large", `host ${host} wrote a line of more than ${limit} bytes; return less`, {
    detail: { host, max_bytes: limit },
  });

export const queueFullError = (host: string, queue: number): ToolplaneError =>
  new ToolplaneError("rate_limited", `host ${host} has ${queue} calls waiting; try again later or enlarge its pool`, {
    detail: { host },
  });

export const breakerError = (host: string, retryInMs: number, last: string | undefined): ToolplaneError =>
  new ToolplaneError(
    "breaker_open",
    `host ${host} crashed too often and is left alone for ${Math.ceil(retryInMs / 1000)} s${last === undefined ? "" : ` (last: ${last})`}`,
    { detail: { host, retry_in_ms: Math.ceil(retryInMs) } },
  );

export const closedError = (host: string): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", `host ${host} was closed`, { detail: { host } });
