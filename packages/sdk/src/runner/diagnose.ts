// Why a tool failed, in the words of its program: the error's class, its message, its stack and those of its causes. It goes to the
// service's log and to the operators of the plane, never into a card. Pure; scrubbed like everything that leaves a run (I8).

import { isFilled, isToolplaneError } from "@toolplane/protocol";
import type { Diagnostics } from "../gateway/gateway.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import { isErrorLike, NO_STACK, showThrown, stackWithCauses } from "../tools/thrown-value.ts";
import type { RunEnd } from "./attempts.ts";

/** The place of a mistake is near the top of a stack. */
const MAX_CHARS = { name: 200, message: 2_000, stack: 8_000 } as const;

/** `a string`, `an object`, `undefined`: what was thrown, where an error has its class. */
const kindOf = (thrown: unknown): string => (thrown === null ? "null" : typeof thrown);

type TextScrubber = Pick<Scrubber, "text">;

const describe = (origin: unknown, { text: scrub }: TextScrubber): Diagnostics => {
  if (!isErrorLike(origin)) {
    const message = showThrown(origin, scrub);
    return { name: kindOf(origin), message, stack: `${message}\n${NO_STACK}` };
  }
  const { name, message } = origin as { name?: unknown; message?: unknown };
  return {
    name: isFilled(name) ? name : "Error",
    message: typeof message === "string" ? message : "",
    stack: stackWithCauses(origin),
  };
};

/**
 * What the program itself threw. An error of ours without a cause, such as a deadline, is left out: its stack would show only
 * the plane's code.
 */
export const diagnose = (thrown: unknown, scrubber: TextScrubber): Diagnostics | undefined => {
  try {
    const origin = isToolplaneError(thrown) ? thrown.cause : thrown;
    if (isToolplaneError(thrown) && !isErrorLike(origin)) return undefined;
    const { name, message, stack } = describe(origin, scrubber);
    // Scrubbed before it is cut: a secret that is cut in two would not be found.
    return {
      name: scrubber.text(name).slice(0, MAX_CHARS.name),
      message: scrubber.text(message).slice(0, MAX_CHARS.message),
      stack: scrubber.text(stack).slice(0, MAX_CHARS.stack),
    };
  } catch {
    // An error that throws while it is looked at.
    return undefined;
  }
};

const TRIED: Readonly<Record<RunEnd["kind"], string>> = {
  error: "the last failure:",
  value: "the last try succeeded; the failure before it:",
  ended: "then the run was ended; the last failure:",
};

/**
 * Why a run failed, or failed before it was tried again with success: then the first line of the stack says how often it was tried. A
 * service tries a safe tool several times under one lease, and the plane counts that as one attempt.
 */
export const diagnoseEnd = (end: RunEnd, scrubber: TextScrubber): Diagnostics | undefined => {
  const { failed, tries } = end;
  if (failed === undefined) return undefined;
  const said = diagnose(failed.thrown, scrubber);
  if (tries < 2) return said;
  const { code } = failed.error;
  const message = scrubber.text(failed.error.message).slice(0, MAX_CHARS.message);
  const { stack, ...rest } = said ?? { name: code, message, stack: `${code}: ${message}` };
  return {
    ...rest,
    stack: `tried ${tries} times in this attempt; ${TRIED[end.kind]}\n${stack}`.slice(0, MAX_CHARS.stack),
  };
};
