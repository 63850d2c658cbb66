// Cuts a byte stream into lines and looks at every byte once.
// LS1. The lines inside one chunk are decoded together, in place: one system call per chunk, not two per line. Only a line that
//     spans chunks is copied, once.
// LS2. Never more than the limit is held: a longer line is reported when it passes the limit, then dropped as it comes, except
//     its first and last bytes, which show its request.
// LS3. Pieces are copied into one growing buffer, so a line that arrives byte by byte costs its bytes, not an object each.

import { isUtf8 } from "node:buffer";
import { utf8Bytes } from "@toolplane/protocol";

export interface LineSink {
  /** Without its line feed, and it may be empty; `valid` is false when the bytes are not UTF-8 (the text then has replacement characters). */
  line(text: string, bytes: number, valid: boolean): void;
  /** The running line has passed the limit; `head` is how it begins. */
  tooLong(head: string): void;
  /** The end of that line. */
  tooLongEnded(head: string, tail: string): void;
}

export interface LineSplitter {
  push(chunk: Buffer): void;
  /** The stream is over: what follows the last line feed is a line too. */
  end(): void;
  /** Bytes held for the running line. */
  held(): number;
}

const LINE_FEED = 10;
/** The id is within the first or the last bytes of every message. */
const EDGE_BYTES = 1_024;
/** Lines are usually shorter; a buffer that grew beyond this is released after its line. */
const KEPT_BYTES = 256 * 1_024;
const FIRST_BYTES = 4 * 1_024;

const REPLACEMENT = "\uFFFD";

class Splitter implements LineSplitter {
  readonly #limit: number;
  readonly #sink: LineSink;
  #buffer: Buffer = Buffer.alloc(0);
  #used = 0;
  /** The beginning of a line that is being thrown away. */
  #head: string | undefined;
  #tail: Buffer = Buffer.alloc(0);

  constructor(limit: number, sink: LineSink) {
    this.#limit = limit;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    const last = chunk.lastIndexOf(LINE_FEED);
    let start = 0;
    if (last >= 0 && (this.#head !== undefined || this.#used > 0)) {
      const end = chunk.indexOf(LINE_FEED);
      this.#finish(chunk, 0, end);
      start = end + 1;
    }
    if (start <= last) this.#readBlock(chunk, start, last);
    const rest = last + 1;
    if (rest < chunk.length) this.#keep(chunk, rest, chunk.length);
  }

  /** Whole lines, without the last one's line feed. */
  #readBlock(chunk: Buffer, start: number, end: number): void {
    const block = chunk.subarray(start, end);
    if (block.length > this.#limit || !isUtf8(block)) {
      this.#readOneByOne(chunk, start, end);
      return;
    }
    const text = block.toString("utf8");
    const plain = text.length === block.length;
    for (let from = 0; from <= text.length; ) {
      const found = text.indexOf("\n", from);
      const to = found < 0 ? text.length : found;
      const line = text.slice(from, to);
      this.#sink.line(line, plain ? line.length : utf8Bytes(line), true);
      from = to + 1;
    }
  }

  #readOneByOne(chunk: Buffer, start: number, end: number): void {
    for (let from = start; from <= end; ) {
      const found = chunk.indexOf(LINE_FEED, from);
      const to = found < 0 || found > end ? end : found;
      this.#finish(chunk, from, to);
      from = to + 1;
    }
  }

  end(): void {
    if (this.#head !== undefined || this.#used > 0) this.#finish(Buffer.alloc(0), 0, 0);
  }

  held(): number {
    return this.#used;
  }

  #finish(chunk: Buffer, start: number, end: number): void {
    if (this.#head === undefined && this.#used === 0 && end - start <= this.#limit) {
      this.#emit(chunk, start, end);
      return;
    }
    this.#keep(chunk, start, end);
    if (this.#head === undefined) {
      const used = this.#used;
      this.#used = 0;
      const buffer = this.#buffer;
      if (buffer.length > KEPT_BYTES) this.#buffer = Buffer.alloc(0);
      this.#emit(buffer, 0, used);
      return;
    }
    const head = this.#head;
    const tail = this.#tail.toString("utf8");
    this.#head = undefined;
    this.#tail = Buffer.alloc(0);
    this.#sink.tooLongEnded(head, tail);
  }

  #emit(buffer: Buffer, start: number, end: number): void {
    const text = buffer.toString("utf8", start, end);
    // Only a text with a replacement character can come from bytes that are not UTF-8.
    const valid = !text.includes(REPLACEMENT) || isUtf8(buffer.subarray(start, end));
    this.#sink.line(text, end - start, valid);
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    if (this.#head === undefined && this.#used + (end - start) > this.#limit) this.#overflow(chunk, start, end);
    if (this.#head !== undefined) {
      const piece = chunk.subarray(Math.max(start, end - EDGE_BYTES), end);
      const whole = Buffer.concat([this.#tail, piece]);
      this.#tail = Buffer.from(whole.subarray(Math.max(0, whole.length - EDGE_BYTES)));
      return;
    }
    const needed = this.#used + (end - start);
    if (needed > this.#buffer.length) this.#grow(needed);
    chunk.copy(this.#buffer, this.#used, start, end);
    this.#used = needed;
  }

  #overflow(chunk: Buffer, start: number, end: number): void {
    const held = this.#buffer.subarray(0, Math.min(this.#used, EDGE_BYTES));
    const rest = chunk.subarray(start, Math.min(end, start + EDGE_BYTES - held.length));
    this.#head = Buffer.concat([held, rest]).toString("utf8");
    this.#tail = Buffer.alloc(0);
    this.#buffer = Buffer.alloc(0);
    this.#used = 0;
    this.#sink.tooLong(this.#head);
  }

  #grow(needed: number): void {
    const size = Math.min(Math.max(needed, this.#buffer.length * 2, FIRST_BYTES), Math.max(this.#limit, needed));
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }
}

export const createLineSplitter = (limit: number, sink: LineSink): LineSplitter => new Splitter(limit, sink);
