// Writes lines to a host's stdin: all lines of one tick in one write, and the next write only when the last was taken.
// LW1. A line counts as written from the moment its write begins: from then on the host may have read it. Exception: the last
//     line of a write that failed. Its line feed did not arrive, so no host can have read it as a line.
// LW2. A line that has not been written can be taken back. When a host does not read, nothing piles up in the stream.

export interface Outgoing {
  /** Empty once it is written: a call waits long for its answer, and its request should not use memory meanwhile. */
  line: string;
  /** Set when the write that holds the line begins. */
  written: boolean;
}

export interface LineWriter {
  send(item: Outgoing): void;
  /** Takes a line back that has not been written; false when it is too late. */
  takeBack(item: Outgoing): boolean;
  /** No more lines: ends the stream when what is there has been written. */
  end(): void;
}

export interface WriteStream {
  write(text: string, done: (error?: Error | null) => void): boolean;
  end(): unknown;
}

/** Several times what a pipe holds, so that the pipe never runs empty; the rest of a large queue can still be taken back. */
const BATCH_CHARACTERS = 1_024 * 1_024;

class Writer implements LineWriter {
  readonly #stream: WriteStream;
  readonly #onBroken: (error: Error) => void;
  #waiting: Outgoing[] = [];
  #last: Outgoing | undefined;
  #scheduled = false;
  #writing = false;
  #ending = false;
  #broken = false;

  constructor(stream: WriteStream, onBroken: (error: Error) => void) {
    this.#stream = stream;
    this.#onBroken = onBroken;
  }

  send(item: Outgoing): void {
    if (this.#broken || this.#ending) return;
    this.#waiting.push(item);
    if (this.#scheduled || this.#writing) return;
    this.#scheduled = true;
    // At the end of this callback, so that lines that are sent together share a write.
    process.nextTick(this.#flush);
  }

  takeBack(item: Outgoing): boolean {
    if (item.written) return false;
    const index = this.#waiting.indexOf(item);
    if (index >= 0) this.#waiting.splice(index, 1);
    return true;
  }

  end(): void {
    if (this.#ending || this.#broken) return;
    this.#ending = true;
    if (!this.#writing && this.#waiting.length === 0) this.#stream.end();
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    if (this.#writing || this.#broken || this.#waiting.length === 0) return;
    let text = "";
    let count = 0;
    for (const item of this.#waiting) {
      text = count === 0 ? item.line : text + item.line;
      item.line = "";
      item.written = true;
      this.#last = item;
      count += 1;
      if (text.length >= BATCH_CHARACTERS) break;
    }
    this.#waiting = count === this.#waiting.length ? [] : this.#waiting.slice(count);
    this.#writing = true;
    this.#stream.write(text, this.#taken);
  };

  readonly #taken = (error?: Error | null): void => {
    this.#writing = false;
    if (error !== undefined && error !== null) {
      if (this.#last !== undefined) this.#last.written = false;
      this.#broken = true;
      this.#onBroken(error);
      return;
    }
    this.#last = undefined;
    if (this.#waiting.length > 0) this.#flush();
    else if (this.#ending) this.#stream.end();
  };
}

export const createLineWriter = (stream: WriteStream, onBroken: (error: Error) => void): LineWriter =>
  new Writer(stream, onBroken);
