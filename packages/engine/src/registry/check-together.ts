// Options of a definition that cannot be kept together.

import { type ToolDefinition, ToolplaneError } from "@toolplane/protocol";

const plainCannotPin = (): ToolplaneError =>
  new ToolplaneError(
    "bad_request",
    "options.pin cannot be strict with service: plain, which names no version when it runs a call; leave one of them out",
    { detail: { path: "$.options.pin" } },
  );

/** Limits are kept where calls are leased, and so is the count of attempts. */
const LEASED_OPTIONS = ["concurrency", "rate", "breaker", "retry_policy"] as const;

const refuseUnleased = ({ options }: ToolDefinition): void => {
  const given = LEASED_OPTIONS.find((key) => options[key] !== undefined);
  if (options.service !== "plain" || given === undefined) return;
  const message = `options.${given} cannot be kept with service: plain, which takes no lease; leave one of them out`;
  throw new ToolplaneError("bad_request", message, { detail: { path: `$.options.${given}` } });
};

/** A tool that is not safe is never run twice. */
const unsafeCannotRetry = (): ToolplaneError =>
  new ToolplaneError(
    "bad_request",
    "options.retry_policy needs retry: safe; a tool that is not safe is never tried again",
    { detail: { path: "$.options.retry_policy" } },
  );

/** Throws `bad_request` that names the option. */
export const checkTogether = (definition: ToolDefinition): void => {
  const { pin, service, retry, retry_policy: policy } = definition.options;
  if (pin === "strict" && service === "plain") throw plainCannotPin();
  refuseUnleased(definition);
  if (policy !== undefined && retry !== "safe") throw unsafeCannotRetry();
};
