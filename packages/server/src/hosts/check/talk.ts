// A conversation with one process of the host under test. It only speaks, listens and keeps the record.

import type { Writable } from "node:stream";
import { type ExitStatus, spawnGuarded } from "@toolplane/processes";
import { isRecord, type JsonObject } from "@toolplane/protocol";
import type { Conversation, Ending, Heard, Said } from "./evidence.ts";
import { isAnswer } from "./evidence.ts";

export interface TalkOptions {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** How long one answer may take. */
  readonly timeoutMs: number;
  readonly uuid: () => string;
  readonly onStderr: (text: string) => void;
}

export interface Ask {
  readonly method: string;
  readonly params?: JsonObject;
  readonly id?: string;
  readonly v?: unknown;
  /** Written after the line instead of a newline. */
  readonly end?: string;
}

export interface Talk extends AsyncDisposable {
  /** Sends a request and waits for its answer; undefined when none came. */
  ask(tag: string, ask: Ask): Promise<JsonObject | undefined>;
  /** Sends a request, and lets it run. */
  begin(tag: string, ask: Ask): string;
  answerTo(id: string): Promise<JsonObject | undefined>;
  /** Sends a line as it is; waits for an answer under id null if it is to have one. */
  line(tag: string, text: string | Buffer, answered?: boolean): Promise<JsonObject | undefined>;
  /** The same as `ask`, written piece by piece. */
  inPieces(tag: string, ask: Ask): Promise<JsonObject | undefined>;
  agree(extensions: readonly string[]): void;
  isAlive(): boolean;
  /** Closes stdin, or waits for an end that was asked for otherwise. */
  farewell(closeStdin: boolean): Promise<void>;
  record(): Conversation;
}

/** Output that came before it was looked at is kept, up to this much. */
const MAX_HEARD = 10_000;
const MAX_LINE_CHARS = 64 * 1024 * 1024;
const GRACE_MS = 500;
const PIECES = 3;
/** Long enough that a host on a busy machine has read one piece before the next is there. */
const BETWEEN_PIECES_MS = 20;

const tryObject = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
};

export const startTalk = async (options: TalkOptions): Promise<Talk> => {
  const { timeoutMs, uuid } = options;
  const host = await spawnGuarded(options.argv, {
    label: "the host",
    env: options.env,
    cwd: options.cwd,
    stdio: ["pipe", "pipe", "pipe"],
    graceMs: GRACE_MS,
  });
  const stdin = host.child.stdin as Writable;
  const said: Said[] = [];
  const heard: Heard[] = [];
  const waiting = new Set<() => void>();
  let extensions: readonly string[] = [];
  let order = 0;
  let exit: ExitStatus | undefined;
  let asked = false;
  let ending: Ending | undefined;
  let diedIn: string | undefined;
  let rest = "";

  const wake = (): void => {
    for (const look of [...waiting]) look();
  };
  const hear = (text: string): void => {
    rest += text;
    const lines = rest.split("\n");
    rest = (lines.pop() ?? "").slice(0, MAX_LINE_CHARS);
    for (const line of lines)
      if (heard.length < MAX_HEARD) heard.push({ order: order++, text: line, message: tryObject(line) });
    wake();
  };
  // A host that is gone does not read; the missing answer shows it.
  stdin.on("error", () => {});
  host.child.stdout?.setEncoding("utf8").on("data", hear);
  host.child.stderr?.setEncoding("utf8").on("data", options.onStderr);
  const closed = new Promise<void>((resolve) => host.child.once("close", () => resolve()));
  void Promise.all([host.exited, closed]).then(([status]) => {
    exit = status;
    // A last line without its end is still something it said.
    if (rest !== "") hear("\n");
    if (!asked) diedIn = said.at(-1)?.tag ?? "start";
    wake();
  });

  const until = (holds: () => boolean): Promise<boolean> =>
    new Promise((resolve) => {
      const done = (result: boolean): void => {
        clearTimeout(timer);
        waiting.delete(look);
        resolve(result);
      };
      const look = (): void => {
        if (holds()) done(true);
        else if (exit !== undefined) done(false);
      };
      const timer = setTimeout(() => done(false), timeoutMs);
      waiting.add(look);
      look();
    });

  const find = (holds: (message: JsonObject) => boolean, after = -1): JsonObject | undefined =>
    heard.find(({ order: at, message }) => at > after && isAnswer(message) && holds(message))?.message;

  const answerTo = async (id: string): Promise<JsonObject | undefined> => {
    await until(() => find((message) => message.id === id) !== undefined);
    return find((message) => message.id === id);
  };

  const note = (tag: string, { method, params = {} }: Partial<Ask>, id: string | null): Said => {
    const one = { tag, order: order++, id, method, params };
    said.push(one);
    return one;
  };
  const textOf = ({ method, params = {}, v = 1 }: Ask, id: string): string => JSON.stringify({ v, id, method, params });

  const begin = (tag: string, ask: Ask): string => {
    const id = ask.id ?? uuid();
    note(tag, ask, id);
    stdin.write(`${textOf(ask, id)}${ask.end ?? "\n"}`);
    return id;
  };

  return {
    begin,
    answerTo,
    ask: (tag, ask) => answerTo(begin(tag, ask)),
    async line(tag, text, answered = true) {
      const { order: at } = note(tag, {}, null);
      stdin.write(typeof text === "string" ? `${text}\n` : Buffer.concat([text, Buffer.from("\n")]));
      if (!answered) return undefined;
      const isIt = (message: JsonObject): boolean => message.id === null;
      await until(() => find(isIt, at) !== undefined);
      return find(isIt, at);
    },
    async inPieces(tag, ask) {
      const id = uuid();
      note(tag, ask, id);
      const bytes = Buffer.from(`${textOf(ask, id)}\n`);
      const size = Math.ceil(bytes.length / PIECES);
      for (let at = 0; at < bytes.length; at += size) {
        await new Promise<void>((resolve) => stdin.write(bytes.subarray(at, at + size), () => resolve()));
        // Written and flushed on its own, so that a fast reader sees each piece in a read of its own.
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_PIECES_MS));
      }
      return answerTo(id);
    },
    agree(agreed) {
      extensions = agreed;
    },
    isAlive: () => exit === undefined,
    async farewell(closeStdin) {
      asked = true;
      if (closeStdin) stdin.end();
      await until(() => exit !== undefined);
      ending = exit === undefined ? { kind: "late" } : { kind: "exited", code: exit.code, signal: exit.signal };
    },
    record: () => ({ extensions, said: [...said], heard: [...heard], farewell: ending, diedIn }),
    async [Symbol.asyncDispose]() {
      asked = true;
      await host.end({ signal: "SIGKILL", graceMs: 0 });
    },
  };
};
