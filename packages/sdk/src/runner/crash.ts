// An error that no code caught: thrown in a timer or an event handler, or a promise that rejected and was not awaited. It ends the
// process. What becomes of the calls that run in it is decided here; pure.

import { type ErrorEnvelope, ToolplaneError } from "@toolplane/protocol";
import type { Diagnostics } from "../gateway/gateway.ts";
import { understandToolError } from "../tools/tool-error.ts";
import type { ToolProfile } from "./executor.ts";

/** Whose code threw: this call's, another call's, or code that no call started. */
export type Culprit = "this" | "other" | "unknown";

export interface Crash {
  readonly thrown: unknown;
  readonly culprit: Culprit;
  /** Without the secrets of all the calls that ran. */
  readonly diagnostics: Diagnostics | undefined;
}

/**
 * `lapse`: nothing is reported, so the lease ends by itself. The plane then counts an attempt and offers the call again after a pause:
 * a call that ends every process that takes it is given up at last. A call that is given back is not counted, so only a call that
 * certainly did not cause the end is given back.
 */
export const planCrash = (
  started: boolean,
  retry: ToolProfile["retry"],
  culprit: Culprit,
): "release" | "lapse" | "failed" | "outcome_unknown" => {
  if (!started) return "release";
  if (retry === "safe") return culprit === "other" ? "release" : "lapse";
  return culprit === "this" ? "failed" : "outcome_unknown";
};

export const crashedError = (
  toolName: string,
  { thrown, culprit }: Crash,
  scrub: (text: string) => string,
): ErrorEnvelope | ToolplaneError => {
  if (culprit !== "this")
    return new ToolplaneError(
      "outcome_unknown",
      `an error in its process ended the service while it ran ${toolName}; the tool may or may not have had its effect`,
    );
  const { envelope } = understandToolError(thrown, scrub);
  const where =
    "it was thrown outside of the tool's promise, in a timer, an event handler or a promise without await, and ended the service";
  return { ...envelope, message: `${envelope.message}; ${where}` };
};
