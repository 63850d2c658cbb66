// Pieces of an answer on their way to the screen: an endpoint that repeats our key must not have it shown (I8), not even cut in
// two. The end of a text that may be the beginning of the key waits for the next piece.

import type { BrainPiece } from "../brain.ts";

export interface PieceScrubber {
  push(piece: BrainPiece): void;
  /** No more pieces come: the waiting text is shown. */
  flush(): void;
}

const MARK = "[redacted]";

/** Length of the longest end of the text that is a beginning of the key. */
const openEnd = (text: string, key: string): number => {
  for (let length = Math.min(key.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(key.slice(0, length))) return length;
  }
  return 0;
};

export const createPieceScrubber = (key: string | undefined, onPiece: (piece: BrainPiece) => void): PieceScrubber => {
  if (key === undefined || key === "") return { push: onPiece, flush: () => {} };
  const waiting = new Map<BrainPiece["kind"], string>();
  const show = (kind: BrainPiece["kind"], text: string): void => {
    if (text !== "") onPiece({ kind, text });
  };
  return {
    push({ kind, text }) {
      // The name of a tool comes whole.
      if (kind === "tool_call") return show(kind, text.replaceAll(key, MARK));
      const clean = ((waiting.get(kind) ?? "") + text).replaceAll(key, MARK);
      const open = openEnd(clean, key);
      waiting.set(kind, clean.slice(clean.length - open));
      show(kind, clean.slice(0, clean.length - open));
    },
    flush() {
      for (const [kind, text] of waiting) show(kind, text);
      waiting.clear();
    },
  };
};
