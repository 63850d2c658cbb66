// Counts what a model's answer holds, while its bytes pass. The SDK reads a whole answer on the event loop, and the arguments of
// its tool calls once more; an answer of 12 MB with different names blocked all other work for three seconds (SEC-10).
//   AW1. Commas and opening brackets are counted everywhere, because arguments are JSON inside a text.
//   AW2. An answer in events may have any number of small events; only what an event holds beyond a few is added up.

import { ToolplaneError } from "@toolplane/protocol";

/** A hundred times what a model writes in one answer; some 100 ms to read. */
const MAX_MARKS = 100_000;
/** More than the envelope of one event holds. */
const MARKS_OF_AN_EVENT = 64;

const LINE_FEED = 10;
const COMMA = 44;
const OPEN_LIST = 91;
const OPEN_OBJECT = 123;

/** Throws when the answer has too much; given its pieces in order. */
export type WeighAnswer = (piece: Uint8Array) => void;

export const createAnswerWeight = (inEvents: boolean): WeighAnswer => {
  const free = inEvents ? MARKS_OF_AN_EVENT : 0;
  let total = 0;
  let ofEvent = 0;
  return (piece) => {
    for (const byte of piece) {
      if (byte === LINE_FEED && inEvents) ofEvent = 0;
      if (byte !== COMMA && byte !== OPEN_LIST && byte !== OPEN_OBJECT) continue;
      ofEvent++;
      if (ofEvent > free) total++;
    }
    if (total > MAX_MARKS)
      throw new ToolplaneError(
        "payload_too_large",
        "the model's answer holds more values than can be read: have it write less at once",
      );
  };
};
