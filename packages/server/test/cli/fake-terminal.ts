// A terminal for tests: remembers what was written, and answers requests from a table.

import type { PoolAnswer } from "@toolplane/sdk/client";
import type { CliIo } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";

export interface FakeTerminal {
  readonly io: CliIo;
  readonly out: () => string;
  readonly err: () => string;
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: Headers;
    readonly body: unknown;
  }[];
  /** Ctrl-C. */
  interrupt(): void;
  run(...argv: readonly string[]): Promise<number>;
}

export interface FakeAnswer {
  readonly status?: number;
  readonly body?: unknown;
  readonly fail?: Error;
  /** Runs before the answer is given. */
  readonly before?: () => void;
}

export interface FakeTerminalOptions {
  readonly answer?: (method: string, path: string) => FakeAnswer;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly tty?: boolean;
}

const missing = (): never => {
  throw Object.assign(new Error("no such file"), { code: "ENOENT" });
};

const fakeBody = (text: string): PoolAnswer["body"] => ({
  text: async () => text,
  dump: async () => undefined,
  async *[Symbol.asyncIterator]() {
    yield new TextEncoder().encode(text);
  },
});

export const createFakeTerminal = (options: FakeTerminalOptions = {}): FakeTerminal => {
  let out = "";
  let err = "";
  let now = Date.parse("2030-01-01T00:00:00Z");
  const requests: FakeTerminal["requests"] = [];
  const listeners = new Set<() => void>();
  const answer = options.answer ?? ((): FakeAnswer => ({ body: {} }));
  const io: CliIo = {
    stdout: { write: (text) => (out += text), isTTY: options.tty },
    stderr: { write: (text) => (err += text), isTTY: options.tty },
    env: options.env ?? {},
    cwd: "/somewhere",
    exit: () => {},
    onStop: (heard) => {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    openPool: (origin) => ({
      send: async ({ method, path, headers, body, signal }) => {
        // One call is a batch of one; tests see and answer the call.
        const isCall = path.endsWith("/calls/batch");
        const seen = isCall ? path.slice(0, -"/batch".length) : path;
        const [item] = isCall ? (JSON.parse(body ?? "[]") as unknown[]) : [];
        const text = isCall ? JSON.stringify(item) : body;
        requests.push({ method, url: origin + seen, headers: new Headers(headers), body: text });
        const { status = 200, body: given, fail, before } = answer(method, seen);
        before?.();
        if (fail !== undefined) throw fail;
        signal?.throwIfAborted();
        const said = typeof given === "string" ? given : JSON.stringify(given ?? {});
        const answered = isCall && status === 200 ? `${JSON.stringify({ index: 0, ...(given as object) })}\n` : said;
        return { status, header: () => undefined, body: fakeBody(status === 204 ? "" : answered) };
      },
      close: async () => {},
    }),
    readFile: async (path) => options.files?.[path] ?? missing(),
    readStdin: async () => options.stdin ?? "",
    async *readLines() {
      yield* (options.stdin ?? "").split("\n").filter((line) => line !== "");
    },
    now: () => now,
    uuid: () => "00000000-0000-4000-8000-000000000000",
    sleep: async (ms) => {
      now += ms;
    },
  };
  return {
    io,
    out: () => out,
    err: () => err,
    requests,
    interrupt: () => {
      for (const heard of listeners) heard();
    },
    run: (...argv) => main(argv, io),
  };
};

/** What a pool throws when nothing listens. */
export const refused = (): Error => Object.assign(new Error("connect"), { code: "ECONNREFUSED" });

/** What a pool throws when the other side hangs up. */
export const reset = (): Error => Object.assign(new Error("read"), { code: "ECONNRESET" });
