// Why a tool failed, in the words of its program: the error's class, its message, its stack and those of its causes. It goes to the
// service's log and to the operators of the plane, never into a card. Pure; scrubbed like everything that leaves a run (I8).

import { isFilled, isRecord, isToolplaneError } from "@toolplane/protocol";
import type { Diagnostics } from "../gateway/gateway.ts";
import type { Scrubber } from "../secrets/scrubber.ts";

/** The place of a mistake is near the top of a stack. */
const MAX_CHARS = { name: 200, message: 2_000, stack: 8_000 } as const;
const MAX_CAUSES = 5;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Node's stack begins with the name and the message; one that was put together elsewhere may not. */
const stackOf = (error: object): string => {
  const { name, message, stack } = error as { name?: unknown; message?: unknown; stack?: unknown };
  return isFilled(stack) ? stack : `${textOf(name)}: ${textOf(message)}`;
};

const causesOf = (error: object): readonly object[] => {
  const found: object[] = [];
  for (let at = (error as { cause?: unknown }).cause; at !== null && typeof at === "object"; ) {
    if (found.length === MAX_CAUSES || at === error || found.includes(at)) break;
    found.push(at);
    at = (at as { cause?: unknown }).cause;
  }
  return found;
};

/**
 * What the program itself threw. An error of ours that has no cause is a sentence of the plane, such as a deadline: its stack
 * would show the plane's code and help nobody.
 */
const originOf = (thrown: unknown): object | undefined => {
  if (typeof thrown === "string") return { name: "string", message: thrown };
  const origin = isToolplaneError(thrown) ? thrown.cause : thrown;
  return origin instanceof Error || (isRecord(origin) && isFilled(origin.message)) ? origin : undefined;
};

export const diagnose = (thrown: unknown, scrubber: Scrubber): Diagnostics | undefined => {
  try {
    const origin = originOf(thrown);
    if (origin === undefined) return undefined;
    const { name, message } = origin as { name?: unknown; message?: unknown };
    const stack = [stackOf(origin), ...causesOf(origin).map((cause) => `caused by: ${stackOf(cause)}`)].join("\n");
    // Scrubbed before it is cut: a secret that is cut in two would not be found.
    return {
      name: scrubber.text(isFilled(name) ? name : "Error").slice(0, MAX_CHARS.name),
      message: scrubber.text(textOf(message)).slice(0, MAX_CHARS.message),
      stack: scrubber.text(stack).slice(0, MAX_CHARS.stack),
    };
  } catch {
    // An error that throws while it is looked at.
    return undefined;
  }
};
