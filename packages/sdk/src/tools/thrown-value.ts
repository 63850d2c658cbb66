// What a tool threw when it is not an Error: a text, an object, nothing at all. It has no stack, so its own text must say what happened.
// Also the stacks of an error and of the errors inside it. Pure.

import { inspect } from "node:util";
import { isFilled, isRecord } from "@toolplane/protocol";

/** Enough to recognise the value; a whole document helps no reader of a message. */
const MAX_CHARS = 2_000;
const MAX_INNER = 5;

export const NO_STACK = "(no stack: the value that was thrown is not an Error; throw new Error(...) to see the place)";

export const UNREADABLE = "the tool threw a value that cannot be shown";

/** A text is the author's own words, as the message of an Error is. */
const textOf = (thrown: unknown): string => {
  if (isFilled(thrown)) return thrown;
  if (typeof thrown === "string") return "the tool threw an empty text";
  return `the tool threw ${inspect(thrown, { breakLength: Number.POSITIVE_INFINITY, depth: 4 })}`;
};

/** `scrub` comes before the cut: a secret that is cut in two would not be found. */
export const showThrown = (thrown: unknown, scrub: (text: string) => string = (text) => text): string => {
  let text: string;
  try {
    text = scrub(textOf(thrown));
  } catch {
    return UNREADABLE;
  }
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS).toWellFormed()} ...` : text;
};

/** An error, also one of another realm or another library's shape: it has a message. */
export const isErrorLike = (thrown: unknown): thrown is object =>
  thrown instanceof Error || (isRecord(thrown) && isFilled(thrown.message));

const ownStack = (error: unknown): string => {
  if (!isErrorLike(error)) return showThrown(error);
  const { name, message, stack } = error as { name?: unknown; message?: unknown; stack?: unknown };
  // Node's stack begins with the name and the message; one that was put together elsewhere may not have any.
  return isFilled(stack) ? stack : `${isFilled(name) ? name : "Error"}: ${String(message)}`;
};

/** The errors that an error was made of, the nearest first: its cause, and the parts of an AggregateError. */
const innerOf = (error: unknown): readonly unknown[] => {
  if (typeof error !== "object" || error === null) return [];
  const { cause, errors } = error as { cause?: unknown; errors?: unknown };
  const parts: readonly unknown[] = Array.isArray(errors) ? errors : [];
  return [...(cause === undefined || cause === null ? [] : [cause]), ...parts];
};

/** The stack of an error, then those of the errors inside it; a chain that goes in a circle ends. */
export const stackWithCauses = (thrown: unknown): string => {
  const found: unknown[] = [];
  const waiting = [...innerOf(thrown)];
  for (let at = waiting.shift(); at !== undefined && found.length < MAX_INNER; at = waiting.shift()) {
    if (at === thrown || found.includes(at)) continue;
    found.push(at);
    waiting.unshift(...innerOf(at));
  }
  return [ownStack(thrown), ...found.map((inner) => `caused by: ${ownStack(inner)}`)].join("\n");
};
