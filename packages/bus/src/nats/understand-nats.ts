// Errors of the client library, in our codes. Its texts are kept where the server wrote them (they name streams and limits),
// never where they could quote a payload.

import { JetStreamApiError } from "@nats-io/jetstream";
import { PermissionViolationError } from "@nats-io/transport-node";
import { ToolplaneError } from "@toolplane/protocol";
import { unavailable } from "./requests.ts";

export const STREAM_NOT_FOUND = 10059;
export const CONSUMER_NOT_FOUND = 10014;
/** Two durables that overlap would both get a command. */
const FILTERS_OVERLAP = 10100;
const FILTERS_OVERLAP_TOO = 10099;
const SUBJECTS_OVERLAP = 10065;

/** The library does not export the class. */
const NO_JETSTREAM = "JetStreamNotEnabled";

export const hasApiCode = (error: unknown, code: number): boolean =>
  error instanceof JetStreamApiError && error.code === code;

/** The library's own requests wrap it in an error of their own. */
const violationIn = (error: unknown): PermissionViolationError | undefined =>
  [error, error instanceof Error ? error.cause : undefined].find((one) => one instanceof PermissionViolationError);

export const alreadyTaken = (durable: string | undefined, cause?: unknown): ToolplaneError =>
  new ToolplaneError(
    "conflict",
    `another consumer of these commands is on NATS${durable === undefined ? "" : `, so ${durable} cannot be made`}; delete it or narrow its filter`,
    { cause },
  );

/** `durable`: the durable that the request was about, if any. */
export const understandNats = (error: unknown, durable?: string): ToolplaneError => {
  if (error instanceof ToolplaneError) return error;
  if (error instanceof Error && error.name === NO_JETSTREAM)
    return unavailable(
      "this NATS server has no JetStream for this user; start it with -js, or enable it for the user's account",
      "no_jetstream",
      error,
    );
  const violation = violationIn(error);
  if (violation !== undefined)
    return new ToolplaneError(
      "auth_failed",
      `this NATS user may not use ${violation.subject}; see its permissions on the server`,
      { detail: { subject: violation.subject }, cause: error },
    );
  if (hasApiCode(error, FILTERS_OVERLAP) || hasApiCode(error, FILTERS_OVERLAP_TOO)) return alreadyTaken(durable, error);
  if (hasApiCode(error, SUBJECTS_OVERLAP))
    return new ToolplaneError(
      "conflict",
      "another stream of this NATS account takes subjects that begin with cg; delete that stream or use another account",
      { cause: error },
    );
  if (error instanceof JetStreamApiError)
    return unavailable(
      `NATS refuses: ${error.message}; see the settings and limits of that server and of this account`,
      String(error.code),
      error,
    );
  return unavailable("NATS did not answer", "no_answer", error);
};
