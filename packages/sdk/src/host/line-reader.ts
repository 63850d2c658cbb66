// Bytes to lines. Whole blocks are decoded at once, because one text per line would cost more than reading it.
// LR1. A line over the limit is not kept: it is reported once, and reading goes on after its end.
// LR2. Bytes that are not UTF-8 spoil their own line and no other.
// LR3. What is held is at most one unfinished line.

import { isUtf8 } from "node:buffer";

export type LineFault = "too_long" | "not_utf8";

export interface LineReaderOptions {
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  readonly onFault: (fault: LineFault) => void;
}

export interface LineReader {
  push(chunk: Buffer): void;
  /** The last line may lack its end. */
  end(): void;
}

const NEWLINE = 10;

export const createLineReader = ({ maxBytes, onLine, onFault }: LineReaderOptions): LineReader => {
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** Inside a line that was refused. */
  let skipping = false;

  const hold = (bytes: Buffer): void => {
    if (heldBytes + bytes.length > maxBytes) {
      held = [];
      heldBytes = 0;
      skipping = true;
      onFault("too_long");
      return;
    }
    held.push(bytes);
    heldBytes += bytes.length;
  };

  const takeHeld = (rest: Buffer): Buffer => {
    if (heldBytes === 0) return rest;
    const whole = Buffer.concat([...held, rest], heldBytes + rest.length);
    held = [];
    heldBytes = 0;
    return whole;
  };

  const readText = (text: string): void => {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      onLine(text.slice(start, end));
      start = end + 1;
    }
    onLine(start === 0 ? text : text.slice(start));
  };

  const readOneByOne = (block: Buffer): void => {
    for (let start = 0; start <= block.length; ) {
      const found = block.indexOf(NEWLINE, start);
      const line = block.subarray(start, found < 0 ? block.length : found);
      if (line.length > maxBytes) onFault("too_long");
      else if (isUtf8(line)) onLine(line.toString("utf8"));
      else onFault("not_utf8");
      start += line.length + 1;
    }
  };

  /** One or more whole lines without the last line's end. */
  const readBlock = (block: Buffer): void => {
    if (block.length <= maxBytes && isUtf8(block)) readText(block.toString("utf8"));
    else readOneByOne(block);
  };

  /** The line that began in earlier chunks ends here; true when it was refused. */
  const refuseFirst = (firstEnd: number): boolean => {
    if (heldBytes + firstEnd <= maxBytes) return false;
    held = [];
    heldBytes = 0;
    onFault("too_long");
    return true;
  };

  return {
    push(given) {
      let chunk = given;
      const first = chunk.indexOf(NEWLINE);
      if (skipping) {
        if (first < 0) return;
        skipping = false;
        chunk = chunk.subarray(first + 1);
      } else if (first >= 0 && refuseFirst(first)) {
        chunk = chunk.subarray(first + 1);
      }
      const last = chunk.lastIndexOf(NEWLINE);
      if (last >= 0) readBlock(takeHeld(chunk.subarray(0, last)));
      if (last + 1 < chunk.length) hold(chunk.subarray(last + 1));
    },
    end() {
      if (heldBytes > 0) readBlock(takeHeld(Buffer.alloc(0)));
    },
  };
};
