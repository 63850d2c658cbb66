// The words of `why` for a person who looks at a page: they are written for logs and the command line. Pure.

import { clockText, spanText } from "../parts/span-text.ts";

/** `2026-11-18T00:17:43.643Z (in 86396 s)`: the time, and how far away it is. */
const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)(?: \(in (\d+) s\))?/gu;
const LONG_SPAN = /\b(\d{3,}) s\b/gu;

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const spanOf = (seconds: string): string => spanText(Number(seconds) * 1_000);

/** Times as clocks show them, long spans in hours and minutes, and a capital at the beginning. */
export const whyWords = (text: string, now: Date): string =>
  sentence(
    text
      .replaceAll(
        TIME,
        (_, at: string, left?: string) => `${clockText(at, now)}${left === undefined ? "" : ` (in ${spanOf(left)})`}`,
      )
      .replaceAll(LONG_SPAN, (_, seconds: string) => spanOf(seconds)),
  );

export interface Advice {
  readonly words: string;
  /** What to type, when the advice ends with one command. */
  readonly command: string | undefined;
}

/** A command at the end of the advice. One with words behind it is left in its sentence: what would be typed has to be right. */
const LAST_COMMAND = /(?:^|: )(toolplane [^,;:]+)$/u;

/** `correct the arguments, or see the cause with: toolplane calls show 1`: what to do, and the command apart. */
export const planAdvice = (todo: string): Advice => {
  const found = LAST_COMMAND.exec(todo);
  if (found === null) return { words: sentence(todo), command: undefined };
  const words = todo.slice(0, found.index);
  return { words: words === "" ? "On the command line:" : `${sentence(words)}:`, command: found[1] };
};
