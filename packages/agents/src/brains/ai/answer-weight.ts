// Counts what a model's answer holds, while its bytes pass. The SDK reads a whole answer on the event loop, and the arguments of
// its tool calls once more; an answer of 12 MB with different names blocked all other work for three seconds (SEC-10).
//   AW1. Commas and opening brackets are counted everywhere, because arguments are JSON inside a text.
//   AW2. An answer in events may have any number of small events: of what frames an event only what it has beyond a few is added
//        up. Inside texts everything is: the SDK joins the arguments of all events and reads them at the end.

import { ToolplaneError } from "@toolplane/protocol";

/** A hundred times what a model writes in one answer; some 100 ms to read. */
const MAX_MARKS = 100_000;
/** More than the envelope of one event holds. */
const MARKS_OF_AN_EVENT = 64;

const LINE_FEED = 10;
const QUOTE = 34;
const COMMA = 44;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const OPEN_OBJECT = 123;

/** Throws when the answer has too much; given its pieces in order. */
export type WeighAnswer = (piece: Uint8Array) => void;

export const createAnswerWeight = (inEvents: boolean): WeighAnswer => {
  const free = inEvents ? MARKS_OF_AN_EVENT : 0;
  let total = 0;
  let ofFrame = 0;
  let inText = false;
  let isEscaped = false;

  const count = (byte: number): void => {
    if (byte === LINE_FEED && inEvents) {
      ofFrame = 0;
      inText = false;
      isEscaped = false;
    } else if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = inText;
    else if (byte === QUOTE) inText = !inText;
    else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (!inText) ofFrame++;
      if (inText || ofFrame > free) total++;
    }
  };

  return (piece) => {
    for (const byte of piece) count(byte);
    if (total > MAX_MARKS)
      throw new ToolplaneError(
        "payload_too_large",
        "the model's answer holds more values than can be read: have it write less at once",
      );
  };
};
