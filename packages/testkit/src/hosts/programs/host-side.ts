// The host's side of the protocol, by hand and without checks: these programs break the rules on purpose, so they use none of the
// project's own readers and writers. They run as processes of their own and import nothing but Node.

import { writeSync } from "node:fs";

export interface HostCall {
  readonly id: string;
  readonly method: string;
  readonly params: {
    readonly tool_name?: string;
    readonly arguments?: Record<string, unknown>;
    readonly state?: Record<string, unknown>;
    readonly id?: string;
    readonly deadline_ms?: number;
    readonly config?: Record<string, unknown>;
    readonly models?: readonly unknown[];
    readonly result?: unknown;
    readonly text?: string;
  };
}

/** How a host misbehaves; everything that is not given it does properly. */
export interface Habit {
  /** The tool `bad`; `echo`, `wait` and `die` are the same in every program. */
  readonly bad: (call: HostCall) => void;
  readonly hello?: (call: HostCall) => void;
  readonly init?: (call: HostCall) => void;
  /** Methods beyond the required ones, or in place of them. */
  readonly methods?: Readonly<Record<string, (call: HostCall) => void>>;
  /** Ignores requests to cancel. */
  readonly deafToCancel?: boolean;
}

/** Writes everything, however long it takes: a pipe may be full. */
export const raw = (data: string | Buffer, descriptor = 1): void => {
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(descriptor, bytes, sent);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") process.exit(0);
    }
  }
};

export const line = (message: unknown): string => `${JSON.stringify(message)}\n`;

export const answerLine = (id: string, value: unknown, state?: unknown): string =>
  line({ v: 1, id, ok: true, result: { value, ...(state === undefined ? {} : { state }) } });

export const answer = (call: HostCall, result: unknown): void =>
  raw(answerLine(call.id, { success: true, result }, call.params.state));

export const refuse = (id: string | null, type: string, detail: string): void =>
  raw(line({ v: 1, id, ok: false, error: { type, detail, stack: "secret stack" } }));

export const part = (id: string, payload: unknown): string => line({ v: 1, id, event: { type: "part", payload } });

const TOOLS = ["echo", "wait", "die", "count", "bad"].map((name) => ({
  name,
  description: name,
  parameters: { type: "object", properties: {} },
}));

const waiting = new Map<string, NodeJS.Timeout>();

type Handler = (call: HostCall, habit: Habit) => void;

const EXECUTE: Readonly<Record<string, Handler>> = {
  echo: (call) => answer(call, call.params.arguments),
  count: (call) => {
    const n = Number(call.params.state?.n ?? 0) + 1;
    raw(answerLine(call.id, { success: true, result: n }, { ...call.params.state, n }));
  },
  wait: (call) => {
    const { ms: given, says } = call.params.arguments ?? {};
    const ms = Number(given);
    if (says !== undefined) raw(part(call.id, says));
    const done = (): void => {
      waiting.delete(call.id);
      answer(call, { waited: ms, deadline: call.params.deadline_ms ?? null });
    };
    waiting.set(call.id, setTimeout(done, ms));
  },
  /** Notices its deadline before the parent does. */
  overdue: (call) => {
    const ms = Math.max(0, (call.params.deadline_ms ?? 0) - 100);
    setTimeout(() => refuse(call.id, "DeadlineExceeded", "the call's time is over"), ms);
  },
  die: () => process.kill(process.pid, "SIGKILL"),
};

const cancel = (call: HostCall, habit: Habit): void => {
  const id = call.params.id ?? "";
  const timer = waiting.get(id);
  if (habit.deafToCancel !== true && timer !== undefined) {
    clearTimeout(timer);
    waiting.delete(id);
    refuse(id, "Canceled", "canceled");
  }
  raw(answerLine(call.id, null));
};

const METHODS: Readonly<Record<string, Handler>> = {
  init: (call, habit) => (habit.init ?? (() => raw(answerLine(call.id, { n: 0 }, { n: 0 }))))(call),
  get_tool_schemas: (call) => raw(answerLine(call.id, TOOLS, call.params.state)),
  execute_tool: (call, habit) => (EXECUTE[call.params.tool_name ?? ""] ?? habit.bad)(call, habit),
  cancel,
  ping: (call) => raw(answerLine(call.id, null)),
  shutdown: (call) => {
    raw(answerLine(call.id, null));
    process.exit(0);
  },
};

const EXTENSIONS = ["cancel", "ping", "shutdown", "log", "deadline", "teleport"];

export const handle = (call: HostCall, habit: Habit, extended: boolean): void => {
  if (call.method === "hello" && habit.hello !== undefined) habit.hello(call);
  else if (call.method === "hello" && extended) raw(answerLine(call.id, { extensions: EXTENSIONS }));
  else if (habit.methods?.[call.method] !== undefined) habit.methods[call.method]?.(call);
  else if (Object.hasOwn(METHODS, call.method)) METHODS[call.method]?.(call, habit);
  else refuse(call.id, "MethodNotFound", `unknown method ${call.method}`);
};
