// A terminal for tests: remembers what was written, and answers requests from a table.

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
    fetch: async (input, init) => {
      const url = String(input);
      const method = init?.method ?? "GET";
      const body = typeof init?.body === "string" ? init.body : undefined;
      requests.push({ method, url, headers: new Headers(init?.headers), body });
      const { status = 200, body: given, fail, before } = answer(method, new URL(url).pathname + new URL(url).search);
      before?.();
      if (fail !== undefined) throw fail;
      init?.signal?.throwIfAborted();
      return new Response(status === 204 ? null : typeof given === "string" ? given : JSON.stringify(given ?? {}), {
        status,
      });
    },
    readFile: async (path) => options.files?.[path] ?? missing(),
    readStdin: async () => options.stdin ?? "",
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

/** What `fetch` throws when nothing listens. */
export const refused = (): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }) });

/** What `fetch` throws when the other side hangs up. */
export const reset = (): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("read"), { code: "ECONNRESET" }) });
