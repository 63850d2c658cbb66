// The conversation with one host process: requests out, answers and events in.
// HC1. An id is answered once, and only an id that was sent (SEC-9); every other answer is dropped and reported.
// HC2. An event reaches its request only before the answer.
// HC3. Text that is not a message changes nothing: it is reported, and the calls go on.
// HC4. A message for an open request that cannot be understood ends that request: no second answer will come.
// HC5. Of a message only the id is read before it is scrubbed (border.ts).
// HC6. A long line is read in steps, and other work runs between them; later lines wait, and keep their order.

import { setImmediate as breathe } from "node:timers/promises";
import {
  isRecord,
  isToolplaneError,
  type JsonCaps,
  type JsonValue,
  ToolplaneError,
  violation,
} from "@toolplane/protocol";
import { type HostMessage, type HostResponse, parseHostLine, parseHostLineInTurns } from "@toolplane/protocol/host";
import { createLineSplitter, type LineSplitter } from "@toolplane/sdk/host";
import { AskTable, type Tabled } from "./ask-table.ts";
import type { Border } from "./border.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { createLineWriter, type LineWriter, type Outgoing, type WriteStream } from "./line-writer.ts";
import { createTurnQueue, type TurnQueue } from "./turn-queue.ts";

/** One open request. */
export interface Ask extends Outgoing, Tabled {
  readonly method: string;
  onEvent(type: string, payload: JsonValue, bytes: number): void;
  onAnswer(response: HostResponse): void;
  /** The answer came and cannot be used. */
  onFault(error: ToolplaneError): void;
  /** The host writes a line about it that is longer than allowed; the request stays open until the line ends. */
  onTooLong(): void;
}

export interface ConnectionOptions {
  readonly stdin: WriteStream;
  readonly lineBytes: number;
  readonly diagnostics: Diagnostics;
  readonly border: Border;
  readonly pid: number;
  readonly onBroken: (error: Error) => void;
  /** A long line is being read, or is done: meanwhile nothing more should be pushed. */
  readonly onBusy?: ((busy: boolean) => void) | undefined;
}

export type OpenAsks = Pick<AskTable<Ask>, "size" | "get" | "list">;

export interface HostConnection {
  /** Bytes from the host's stdout. */
  push(chunk: Buffer): void;
  /** The host's stdout is over; `done` is called when all of it is read. */
  end(done: () => void): void;
  send(ask: Ask): void;
  /** Takes back a request that was not written; true when it is gone without a trace. */
  takeBack(ask: Ask): boolean;
  /** No further requests; the host sees the end of its input. */
  finish(): void;
  open(): OpenAsks;
  /** Forgets a request: its answer, should it come, is dropped. */
  forget(ask: Ask): void;
  /** Lines read so far: a host that writes is alive. */
  linesRead(): number;
}

/** Deep enough that an answer too deep for a card is still understood and refused by name. */
const MAX_DEPTH = 512;
/** Enough to tell "answered twice" from "never asked"; more would only cost memory. */
const REMEMBERED_IDS = 256;
/** A shorter line is read in a few milliseconds. */
const READ_IN_TURNS = 512 * 1_024;
/** Where an event says that it is one. */
const HEAD_LENGTH = 1_024;
const NOT_UTF8 = violation("a line is not UTF-8");
const STRAY = "it wrote to stdout what is not a message";

/** What a line that breaks the rules would have been: only an answer ends a request, and a real answer may still come. */
const readBroken = (text: string): { readonly id: string | undefined; readonly isAnswer: boolean } => {
  try {
    // It is not stored, so nothing is checked: it may be deeper than we read.
    const message: unknown = JSON.parse(text);
    if (!isRecord(message) || typeof message.id !== "string") return { id: undefined, isAnswer: false };
    return { id: message.id, isAnswer: message.method === undefined && message.event === undefined };
  } catch {
    return { id: undefined, isAnswer: false };
  }
};

/** Whether it is worth parsing: every message is an object with an id. Refusing a text by parsing costs a hundred times more. */
const mayBeMessage = (text: string): boolean =>
  text.trimStart().startsWith("{") && (text.includes('"id"') || text.includes("\\u"));

class Connection implements HostConnection {
  readonly #options: ConnectionOptions;
  readonly #asks = new AskTable<Ask>();
  readonly #caps: JsonCaps;
  /** A ring buffer: the oldest entry is overwritten. */
  readonly #answered: string[] = [];
  #answeredAt = 0;
  readonly #splitter: LineSplitter;
  readonly #writer: LineWriter;
  readonly #turns: TurnQueue;
  #tooLong: Ask | undefined;
  #lines = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#caps = { maxBytes: options.lineBytes, maxDepth: MAX_DEPTH };
    this.#writer = createLineWriter(options.stdin, options.onBroken);
    this.#turns = createTurnQueue(options.onBusy ?? (() => undefined));
    this.#splitter = createLineSplitter(options.lineBytes, {
      line: (text, bytes, valid) => {
        if (text === "") return;
        this.#turns.run(() =>
          (text.length < READ_IN_TURNS ? this.#read : this.#readInTurns).call(this, text, bytes, valid),
        );
      },
      tooLong: (head) => this.#turns.run(() => this.#startTooLong(head)),
      tooLongEnded: (head, tail) => this.#turns.run(() => this.#endTooLong(head, tail)),
    });
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  end(done: () => void): void {
    this.#splitter.end();
    this.#turns.whenIdle(done);
  }

  send(ask: Ask): void {
    this.#asks.add(ask);
    this.#writer.send(ask);
  }

  takeBack(ask: Ask): boolean {
    if (!this.#writer.takeBack(ask)) return false;
    this.#asks.remove(ask);
    return true;
  }

  finish(): void {
    this.#writer.end();
  }

  open(): OpenAsks {
    return this.#asks;
  }

  forget(ask: Ask): void {
    this.#close(ask);
  }

  linesRead(): number {
    return this.#lines;
  }

  #close(ask: Ask): void {
    if (!this.#asks.remove(ask)) return;
    this.#answered[this.#answeredAt] = ask.id;
    this.#answeredAt = (this.#answeredAt + 1) % REMEMBERED_IDS;
  }

  #read(text: string, bytes: number, valid: boolean): void {
    this.#lines += 1;
    if (!mayBeMessage(text)) {
      this.#report("stray_output", STRAY, text);
      return;
    }
    let message: HostMessage;
    try {
      message = parseHostLine(text, this.#caps);
    } catch (error) {
      this.#unreadable(text, error);
      return;
    }
    if (valid) this.#take(this.#scrub(text, message), bytes);
    else this.#unreadable(text, NOT_UTF8);
  }

  /** The same in steps, because decoding was one long step already, and the receiver of the answer has work of its own. */
  async #readInTurns(text: string, bytes: number, valid: boolean): Promise<void> {
    this.#lines += 1;
    if (!mayBeMessage(text)) {
      this.#report("stray_output", STRAY, text);
      return;
    }
    let message: HostMessage;
    try {
      await breathe();
      message = await parseHostLineInTurns(text, breathe, this.#caps);
      if (!valid) throw NOT_UTF8;
    } catch (error) {
      this.#unreadable(text, error);
      return;
    }
    await breathe();
    const scrubbed = this.#scrub(text, message);
    await breathe();
    this.#take(scrubbed, bytes);
  }

  #scrub(text: string, message: HostMessage): HostMessage {
    const method = message.id === null ? undefined : this.#asks.get(message.id)?.method;
    return this.#options.border.message(text, message, method);
  }

  #take(message: HostMessage, bytes: number): void {
    if (message.kind === "request") {
      this.#report("unexpected_request", `it asked for ${message.method.slice(0, 40)}, which a host may not`);
      return;
    }
    if (message.id === null) {
      const { error } = message as Extract<HostResponse, { ok: false }>;
      this.#report("host_error", "it could not read a line of ours", `${error.type}: ${error.detail}`);
      return;
    }
    const ask = this.#asks.get(message.id);
    if (ask === undefined) {
      const twice = this.#answered.includes(message.id);
      const what = message.kind === "event" ? "an event" : "an answer";
      this.#report(
        twice ? "already_answered" : "unknown_id",
        twice ? `${what} came after its answer` : `${what} has an id that was not asked`,
      );
      return;
    }
    if (message.kind === "event") {
      ask.onEvent(message.event.type, message.event.payload, bytes);
      return;
    }
    this.#close(ask);
    ask.onAnswer(message);
  }

  #unreadable(text: string, error: unknown): void {
    // Parsing it once more to learn its id would cost what the refusal saves.
    if (isToolplaneError(error) && error.code === "payload_too_large") {
      this.#startTooLong(text);
      this.#endTooLong(text.slice(0, HEAD_LENGTH), "");
      return;
    }
    const { id, isAnswer } = readBroken(text);
    const ask = id === undefined ? undefined : this.#asks.get(id);
    if (ask === undefined) {
      this.#report("stray_output", STRAY, text);
      return;
    }
    const why = isToolplaneError(error) ? this.#options.border.text(error.message) : "it cannot be read";
    this.#report("unreadable_message", "a message breaks the protocol", why);
    if (!isAnswer) return;
    this.#close(ask);
    ask.onFault(violation(`the host's answer breaks the protocol: ${why}`));
  }

  #startTooLong(head: string): void {
    const ask = this.#findByText(head) ?? this.#onlyOpen();
    this.#tooLong = ask;
    this.#report("line_too_long", `a line is longer than ${this.#options.lineBytes} bytes, or takes too long to read`);
    ask?.onTooLong();
  }

  #endTooLong(head: string, tail: string): void {
    this.#lines += 1;
    const known = this.#tooLong;
    this.#tooLong = undefined;
    const ask = known ?? this.#findByText(tail);
    if (ask === undefined || this.#asks.get(ask.id) !== ask) return;
    if (known === undefined) ask.onTooLong();
    // An event leaves the request running; any other message was its answer.
    if (head.includes('"event"')) return;
    this.#close(ask);
    ask.onFault(new ToolplaneError("result_too_large", "a line of the host is too long"));
  }

  /** Ids are random, so a text that contains one is about its request. */
  #findByText(text: string): Ask | undefined {
    return this.#asks.list().find(({ id }) => text.includes(`"${id}"`));
  }

  #onlyOpen(): Ask | undefined {
    return this.#asks.size === 1 ? this.#asks.list()[0] : undefined;
  }

  #report(kind: Parameters<Diagnostics["report"]>[0], message: string, output?: string): void {
    this.#options.diagnostics.report(kind, message, this.#options.pid, output);
  }
}

export const createHostConnection = (options: ConnectionOptions): HostConnection => new Connection(options);
