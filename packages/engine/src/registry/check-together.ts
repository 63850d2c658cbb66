// Options of a definition that cannot be kept, alone or together.

import { type ToolDefinition, ToolplaneError } from "@toolplane/protocol";

const plainCannotPin = (): ToolplaneError =>
  new ToolplaneError(
    "bad_request",
    "options.pin cannot be strict with service: plain, which names no version when it runs a call; leave one of them out",
    { detail: { path: "$.options.pin" } },
  );

/** Attempts are counted by leases, and an attempt that was not leased is never known to have ended. */
const refuseUnleased = ({ options }: ToolDefinition): void => {
  if (options.service !== "plain" || options.retry_policy === undefined) return;
  const message =
    "options.retry_policy cannot be kept with service: plain, which takes no lease; leave one of them out";
  throw new ToolplaneError("bad_request", message, { detail: { path: "$.options.retry_policy" } });
};

/** A tool that is not safe is never run twice. */
const unsafeCannotRetry = (): ToolplaneError =>
  new ToolplaneError(
    "bad_request",
    "options.retry_policy needs retry: safe; a tool that is not safe is never tried again",
    { detail: { path: "$.options.retry_policy" } },
  );

/** It is not known whether such an attempt did its work. */
const unknownIsNotRetried = (): ToolplaneError =>
  new ToolplaneError(
    "bad_request",
    "options.retry_policy.codes cannot name outcome_unknown: such a call is never tried again; leave it out",
    { detail: { path: "$.options.retry_policy.codes" } },
  );

/** A tool may use codes of its own, also numbers and names of other systems. What has other characters is a list, a pattern or a message. */
const CODE = /^[A-Za-z0-9_.:/-]+$/;

const refuseNoCode = (codes: readonly string[]): void => {
  const at = codes.findIndex((code) => !CODE.test(code));
  if (at < 0) return;
  throw new ToolplaneError(
    "bad_request",
    `options.retry_policy.codes[${at}] is not a code: a code has no spaces and only letters, digits and _ - . : /, such as rate_limited`,
    { detail: { path: `$.options.retry_policy.codes[${at}]` } },
  );
};

/** Throws `bad_request` that names the option. */
export const checkTogether = (definition: ToolDefinition): void => {
  const { pin, service, retry, retry_policy: policy } = definition.options;
  if (pin === "strict" && service === "plain") throw plainCannotPin();
  refuseUnleased(definition);
  if (policy !== undefined && retry !== "safe") throw unsafeCannotRetry();
  refuseNoCode(policy?.codes ?? []);
  if (policy?.codes?.includes("outcome_unknown") === true) throw unknownIsNotRetried();
};
