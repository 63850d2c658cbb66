// Takes the parent's lines one by one; every request is answered exactly once.
// DP1. Requests run at the same time; the order of answers is free.
// DP2. Neither a bad line nor an exception of plugin code ends the host.
// DP3. A canceled request is answered when its code has returned, not before: until then the code still runs, and a parent
//     that gets no answer knows that it must end the process.

import { isRecord, type JsonObject, MAX_JSON_DEPTH } from "@toolplane/protocol";
import {
  agreedExtensions,
  encodeHostFailure,
  encodeHostSuccess,
  HOST_EXTENSIONS,
  type HostMessage,
  type HostParams,
  type HostRequest,
  methodNotFound,
  parseHostLine,
  parseHostParams,
} from "@toolplane/protocol/host";
import { describeRefusal, describeThrown, FAULT_TYPES, type Fault, HostFault } from "./host-fault.ts";
import type { LineWriter } from "./line-writer.ts";
import type { HostPlugin } from "./plugin.ts";
import { callPlugin, isPluginMethod, offers, type PluginMethod, readReturned } from "./plugin-methods.ts";
import { Run, type RunDeps } from "./run.ts";
import type { RunScope } from "./run-scope.ts";

/** Room for a call whose arguments are as large as a result may be, and the line around them. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Arguments may be as deep as JSON may be here; they sit three levels down in the line. */
const LINE_CAPS = { maxBytes: MAX_LINE_BYTES, maxDepth: MAX_JSON_DEPTH + 4 };
/** A parent that sends more without waiting is broken; each one costs memory until it ends. */
const MAX_RUNNING = 10_000;

export interface DispatcherDeps {
  readonly plugin: HostPlugin;
  readonly writer: LineWriter;
  readonly stderr: (text: string) => void;
  readonly now: () => number;
  readonly scope: RunScope;
  /** The parent asked for the end; resolves when what runs has been answered. */
  readonly onShutdown: () => Promise<void>;
}

type LineFault = "too_long" | "not_utf8";

export interface Dispatcher {
  takeLine(line: string): void;
  takeFault(fault: LineFault): void;
  running(): number;
  /** From now on requests are refused; resolves when nothing runs. */
  drain(): Promise<void>;
  /** An error of plugin code that nothing caught, while it worked on this request. */
  crash(run: Run, error: unknown): void;
  /** Answers what still runs as canceled; what it returns later is dropped. */
  giveUp(): void;
}

const LINE_FAULTS: Readonly<Record<LineFault, string>> = {
  too_long: `the line is longer than ${MAX_LINE_BYTES} bytes`,
  not_utf8: "the line is not UTF-8",
};

/** The parent would take an answer under this id for the other request's, so the error is answered without an id. */
class RepeatedId extends HostFault {
  constructor(id: string) {
    super(FAULT_TYPES.params, `a request with the id ${JSON.stringify(id.slice(0, 100))} is running`);
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";

export const createDispatcher = (deps: DispatcherDeps): Dispatcher => {
  const { plugin, writer, scope } = deps;
  let runs = new Map<string, Run>();
  let extensions: readonly string[] = [];
  let draining = false;
  let whenIdle: (() => void)[] = [];
  const runDeps: RunDeps = {
    writer,
    stderr: deps.stderr,
    now: deps.now,
    logsAsEvents: () => extensions.includes("log"),
  };

  const refuse = (id: string | null, fault: Fault): void => writer.writeAnswer(encodeHostFailure(id, fault));

  const finish = (run: Run, line: string): void => {
    runs.delete(run.id);
    run.close();
    writer.writeAnswer(line);
    if (runs.size > 0) return;
    // When a Map grows, its old table keeps a reference to the new one. Once the collector has moved an old table to the old
    // generation, every later table and the requests in it stay in memory until the next full collection. So make a new Map.
    runs = new Map();
    if (whenIdle.length === 0) return;
    const idle = whenIdle;
    whenIdle = [];
    for (const resolve of idle) resolve();
  };

  const faultOf = (run: Run, thrown: unknown): Fault => {
    if (run.canceled) return { type: FAULT_TYPES.canceled, detail: "the request was canceled" };
    if (run.late) return { type: FAULT_TYPES.deadline, detail: "the call's time is over" };
    return describeThrown(thrown);
  };

  const fail = (run: Run, thrown: unknown): void => {
    if (!run.answered) finish(run, encodeHostFailure(run.id, faultOf(run, thrown)));
  };

  const succeed = (run: Run, method: PluginMethod, returned: unknown): void => {
    if (run.answered) return;
    try {
      if (run.canceled) throw new HostFault(FAULT_TYPES.canceled, "the request was canceled");
      const { value, state } = readReturned(method, returned, run.state);
      finish(run, encodeHostSuccess(run.id, value, state));
    } catch (error) {
      fail(run, error);
    }
  };

  const start = (request: HostRequest, method: PluginMethod): void => {
    if (!offers(plugin, method)) throw methodNotFound(method, request.id);
    const params = parseHostParams(method, request.params, request.id);
    const { state = request.params.state, deadline_ms } = params as Partial<HostParams<"execute_tool">>;
    const run = new Run(request, isRecord(state) ? (state as JsonObject) : undefined, deadline_ms, runDeps);
    runs.set(run.id, run);
    try {
      scope.enter(run);
      const returned = callPlugin(plugin, method, params, run);
      if (isThenable(returned)) {
        returned.then(
          (value) => succeed(run, method, value),
          (error: unknown) => fail(run, error),
        );
      } else {
        succeed(run, method, returned);
      }
    } catch (error) {
      fail(run, error);
    }
  };

  const answer = (id: string, value: JsonObject | string): void => writer.writeAnswer(encodeHostSuccess(id, value));

  /** The negotiated ones; true when it was one. */
  const control = ({ id, method, params }: HostRequest): boolean => {
    switch (method) {
      case "ping":
        answer(id, "pong");
        return true;
      case "hello": {
        const offered = parseHostParams("hello", params, id).extensions;
        extensions = agreedExtensions({ extensions: offered }, HOST_EXTENSIONS);
        answer(id, { extensions: [...extensions] });
        return true;
      }
      case "cancel": {
        const run = runs.get(parseHostParams("cancel", params, id).id);
        run?.cancel();
        answer(id, { canceled: run !== undefined });
        return true;
      }
      case "shutdown":
        void deps.onShutdown().then(() => answer(id, {}));
        return true;
      default:
        return false;
    }
  };

  const take = (message: HostMessage): void => {
    if (message.kind !== "request") throw new HostFault(FAULT_TYPES.params, "a host takes requests only");
    if (runs.has(message.id)) throw new RepeatedId(message.id);
    // Nearly every line has this method. Using our own constant spares the users of the line's text a lookup each.
    const method = message.method === "execute_tool" ? "execute_tool" : message.method;
    if (method !== "execute_tool" && control(message)) return;
    if (!isPluginMethod(method)) throw methodNotFound(method, message.id);
    if (draining) throw new HostFault(FAULT_TYPES.shutdown, "the host is shutting down");
    if (runs.size >= MAX_RUNNING) throw new HostFault(FAULT_TYPES.overloaded, `${MAX_RUNNING} requests are running`);
    start(message, method);
  };

  return {
    takeLine(line) {
      let id: string | null = null;
      try {
        const message = parseHostLine(line, LINE_CAPS);
        id = message.id;
        take(message);
      } catch (error) {
        const refusal = describeRefusal(error);
        refuse(error instanceof RepeatedId ? null : (refusal.id ?? id), refusal.fault);
      }
    },
    takeFault: (fault) => refuse(null, { type: FAULT_TYPES.parse, detail: LINE_FAULTS[fault] }),
    running: () => runs.size,
    drain() {
      draining = true;
      if (runs.size === 0) return Promise.resolve();
      return new Promise((resolve) => whenIdle.push(resolve));
    },
    crash: fail,
    giveUp() {
      for (const run of [...runs.values()]) {
        run.cancel();
        fail(run, undefined);
      }
    },
  };
};
