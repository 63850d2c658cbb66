// Why a connection could not be opened: one true sentence that says what to do. The client library's own texts are not shown,
// because they may quote what a server sent.

import { AuthorizationError, ConnectionError, TimeoutError } from "@nats-io/transport-node";
import { ToolplaneError, UsageError } from "@toolplane/protocol";

const failure = (message: string, cause?: unknown): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", message, { cause });

/** A server that is full, or that wants a certificate, closes the connection; the library only sees silence. */
export const lateFailure = (at: string, ms: number): ToolplaneError =>
  failure(
    `NATS at ${at} did not let us in within ${ms} ms; check the address, its limit of connections, and whether it wants a client certificate`,
  );

export const lostFailure = (at: string): ToolplaneError =>
  failure(`the connection to NATS at ${at} was lost while it was opened; see that it runs, then try again`);

/** The codes of OpenSSL and Node that are about the server's certificate. */
const CERTIFICATE_WORDS = ["CERT", "TLS", "SSL", "VERIFY"] as const;
const OTHER_NAME = "ERR_TLS_CERT_ALTNAME_INVALID";
/** OpenSSL could not use the key or certificate we gave it. */
const OUR_FILES = "ERR_OSSL";
const UNKNOWN_HOST: readonly string[] = ["ENOTFOUND", "EAI_AGAIN"];
/** The library has no class for it. */
const NO_TLS = "server does not support 'tls'";

const codeOf = (error: unknown): string => {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === "string") return code;
  return cause === undefined ? "" : codeOf(cause);
};

const understandCode = (code: string, at: string): Error | undefined => {
  if (code.startsWith(OUR_FILES))
    return new UsageError(
      `the certificate and key for NATS cannot be used (${code}); give a PEM file each, of one pair`,
    );
  if (code === OTHER_NAME)
    return failure(`the certificate of NATS at ${at} is for other names; use an address that stands in it`);
  if (CERTIFICATE_WORDS.some((word) => code.includes(word)))
    return failure(
      `the certificate of NATS at ${at} is not accepted (${code}); give the certificate authority that signed it`,
    );
  if (UNKNOWN_HOST.includes(code)) return failure(`the host of NATS at ${at} is not known; correct the address`);
  if (code !== "") return failure(`no server answers at ${at}; start NATS there or correct the address`);
  return undefined;
};

export const understandFailure = (error: unknown, at: string, ms: number): Error => {
  if (error instanceof ToolplaneError) return error;
  if (error instanceof AuthorizationError)
    return new ToolplaneError(
      "auth_failed",
      `NATS at ${at} refuses these credentials; give the ones of its configuration`,
    );
  if (error instanceof TimeoutError) return lateFailure(at, ms);
  if (error instanceof ConnectionError && error.message === NO_TLS)
    return failure(`NATS at ${at} has no TLS; use a nats:// address without certificates, or switch TLS on there`);
  return (
    understandCode(codeOf(error), at) ??
    failure(`what answers at ${at} is not a NATS server, or shuts us out; check the address`, error)
  );
};
