// Something answers at the address, and it is no Toolplane server, or one that cannot be understood: a login page, a redirect, another
// protocol. To ask again would bring the same, so the client says it at once.

import { ToolplaneError } from "@toolplane/protocol";

type Options = ConstructorParameters<typeof ToolplaneError>[2];

export class StrangeAnswer extends ToolplaneError {
  constructor(message: string, options: Options = {}) {
    super("upstream_unavailable", message, options);
  }
}

/** `what`: the part that is missing or wrong. */
export const strangeBody = (what: string): StrangeAnswer =>
  new StrangeAnswer(`the server answers, and not as a Toolplane server does: ${what}`);

/** Codes of the errors along the causes of an error, the outermost first. */
function* codesOf(error: unknown): Generator<string> {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === "string") yield code;
  }
}

const NOBODY: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Nothing was sent: no server listens at the address. */
export const isNobodyThere = (error: unknown): boolean => [...codesOf(error)].some((code) => NOBODY.has(code));

const CERTIFICATES: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

const NO_TLS: ReadonlySet<string> = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST",
]);

/** The sentence for an error of the network that says what stands at the address; undefined for one that may pass. */
export const strangeSpeech = (url: string, cause: unknown): StrangeAnswer | undefined => {
  for (const code of codesOf(cause)) {
    if (CERTIFICATES.has(code))
      return new StrangeAnswer(`the certificate of ${url} is not accepted: ${code}`, { cause });
    // Other failures of TLS pass: a handshake is cut off while a server restarts.
    if (NO_TLS.has(code))
      return new StrangeAnswer(`${url} does not speak TLS; write http:// if the server has no certificate`, { cause });
    // A connection that is cut in the middle of an answer passes.
    if (code.startsWith("HPE_") && code !== "HPE_INVALID_EOF_STATE")
      return new StrangeAnswer(`${url} answered, and not as a Toolplane server does: it does not speak HTTP`, {
        cause,
      });
  }
  return undefined;
};
