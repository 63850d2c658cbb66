// What went wrong on the network, as one of our codes and one sentence. Nothing of the request or the answer is in it (I8).

import { isRecord, ToolplaneError } from "@toolplane/protocol";
import type { EgressLimits } from "../policy/policy.ts";

export interface FailureContext {
  readonly host: string;
  /** The host, with its port where it is not the usual one. */
  readonly address: string;
  readonly limits: EgressLimits;
  /** The caller's own. */
  readonly signal: AbortSignal | undefined;
  readonly deadline: AbortSignal;
}

/** The limit for following causes; a chain that refers to itself ends here. */
const MAX_DEPTH = 6;

const chainOf = (error: unknown): readonly unknown[] => {
  const chain: unknown[] = [];
  let at: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && at !== undefined && at !== null; depth++) {
    chain.push(at);
    at = (at as { readonly cause?: unknown }).cause;
  }
  return chain;
};

const codeOf = (error: unknown): string =>
  isRecord(error as object) && typeof (error as { code?: unknown }).code === "string"
    ? (error as { code: string }).code
    : "";

/** The address was tried in several families; the first reason is shown. */
const reasonsOf = (error: unknown): readonly unknown[] =>
  error instanceof AggregateError ? [error, ...(error.errors as readonly unknown[])] : [error];

const SILENT: ReadonlySet<string> = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);
const UNKNOWN_NAME: ReadonlySet<string> = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_NONAME",
  "EAI_FAIL",
  "ENODATA",
  "ESERVFAIL",
  "EREFUSED",
  "EBADNAME",
  "EBADRESP",
  "ETIMEOUT",
]);
const UNREACHABLE: ReadonlySet<string> = new Set([
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const CERTIFICATE = ["CERT_", "ERR_TLS_", "DEPTH_ZERO_", "SELF_SIGNED_", "UNABLE_TO_", "HOSTNAME_MISMATCH"] as const;

const sentenceOf = (codes: readonly string[], { host, address, limits }: FailureContext): ToolplaneError => {
  const has = (set: ReadonlySet<string>): boolean => codes.some((code) => set.has(code));
  const away = (why: string, detail: object = {}): ToolplaneError =>
    new ToolplaneError("upstream_unavailable", why, { detail: { host, ...detail } });
  /** No byte of the request has left. */
  const unsent = (why: string): ToolplaneError => away(why, { sent: false });
  const large = (what: string): ToolplaneError =>
    new ToolplaneError("result_too_large", `the ${what} of the answer of ${host} are larger than allowed`, {
      detail: { host },
    });
  if (codes.includes("UND_ERR_HEADERS_OVERFLOW")) return large("headers");
  if (codes.includes("UND_ERR_RES_EXCEEDED_MAX_SIZE")) return tooLarge(host, limits);
  if (has(SILENT)) return away(`the host ${host} was silent for more than ${limits.idleMs / 1000} seconds`);
  if (has(UNKNOWN_NAME)) return unsent(`the name ${host} cannot be resolved`);
  if (codes.some((code) => CERTIFICATE.some((start) => code.startsWith(start))))
    return unsent(`the certificate of ${host} is not trusted`);
  if (codes.includes("ECONNREFUSED")) return unsent(`${address} refused the connection: no program listens there`);
  if (has(UNREACHABLE)) return unsent(`${address} cannot be reached`);
  return away(`${address} broke the connection before its answer was whole`);
};

export const tooLarge = (host: string, { bodyBytes }: EgressLimits): ToolplaneError =>
  new ToolplaneError("result_too_large", `the answer of ${host} is larger than ${bodyBytes} bytes`, {
    detail: { host },
  });

/** An abort by the caller is thrown as it is, as with any `fetch`. */
export const understandFailure = (error: unknown, context: FailureContext): unknown => {
  const { host, limits, signal, deadline } = context;
  if (signal?.aborted === true) return signal.reason;
  const chain = chainOf(error).flatMap(reasonsOf);
  const ours = chain.find((link) => link instanceof ToolplaneError);
  if (ours !== undefined) return ours;
  if (deadline.aborted)
    return new ToolplaneError(
      "upstream_unavailable",
      `the host ${host} did not finish its answer within ${limits.totalMs / 1000} seconds`,
      { detail: { host } },
    );
  return sentenceOf(chain.map(codeOf), context);
};
