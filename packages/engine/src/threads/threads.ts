// Threads for work on foreign documents that may take long: the event loop goes on meanwhile (SEC-10).
//   TP1. A task has a time limit. A task that exceeds it is refused with a reason, and its thread is ended and replaced.
//   TP2. Tenants take turns (fair-line.ts); a tenant never holds all threads.
//   TP3. A thread's JavaScript heap is bounded, its memory is not: buffers are outside of the heap, and in 5 s a task could
//        allocate a gigabyte of them. Memory stays bounded because inputs are bounded where they are read and our tasks allocate
//        no buffers. A task at the heap limit mostly collects garbage until its time is over (TP1); sometimes the thread ends by
//        itself before that, and the task is refused as too large.
//   TP4. Threads are started when there is work and ended when there was none for a while. They do not keep a process alive.
//   TP5. A thread ends between two steps of JavaScript. A thread inside a long native operation runs until that is over, so
//        ending threads are counted: both together are never more than twice the pool's size. Closing waits for them for a
//        bounded time.

import { Worker } from "node:worker_threads";
import { ToolplaneError } from "@toolplane/protocol";
import { type Clock, inTime } from "../ports/clock.ts";
import { createFairLine } from "./fair-line.ts";
import type { ThreadMessage, ThreadQuestion } from "./thread-words.ts";

export interface ThreadTask {
  /** The tenant: a project. */
  readonly tenant: string;
  /** What a refusal calls it: `reading the YAML`. */
  readonly what: string;
  /** A module that exports `run(input)`; input and output are plain data. */
  readonly module: URL;
  readonly input: unknown;
}

export interface ThreadStats {
  /** Tasks that were given to a thread. */
  readonly started: number;
  /** Tasks that ran out of time or memory. */
  readonly cutOff: number;
  /** Tasks that found their tenant's line full. */
  readonly turnedAway: number;
  readonly waiting: number;
  readonly threads: number;
  /** Threads that were told to end and have not ended yet. */
  readonly ending: number;
}

export interface Threads {
  run<Output>(task: ThreadTask): Promise<Output>;
  stats(): ThreadStats;
  close(): Promise<void>;
}

export interface ThreadsOptions {
  readonly clock: Clock;
  readonly size?: number | undefined;
  readonly limitMs?: number | undefined;
  readonly maxWaiting?: number | undefined;
  readonly closeMs?: number | undefined;
  /** Of the JavaScript heap of each thread. */
  readonly heapMb?: number | undefined;
}

/** Two: one tenant can hold one of them, and the others share the second. */
const DEFAULT_SIZE = 2;
/** The largest documents we take need up to 2 s (YAML); a busy machine needs a multiple of that. */
const DEFAULT_LIMIT_MS = 5_000;
const DEFAULT_MAX_WAITING = 16;
const IDLE_MS = 30_000;
/** A thread ends within a second, even one that collects garbage. */
const DEFAULT_CLOSE_MS = 5_000;
/** What the largest document takes, several times over. See TP3 for what this does not bound. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

const PROGRAM = (() => {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./thread-program.${extension}`, import.meta.url);
})();
/** By this condition packages find each other's sources when they run as TypeScript. */
const EXEC_ARGV = PROGRAM.pathname.endsWith(".ts") ? ["--conditions=source", "--no-warnings"] : [];

interface Waiting extends ThreadTask {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: ToolplaneError) => void;
}

interface Thread {
  readonly worker: Worker;
  ready: boolean;
  job: { readonly task: Waiting; readonly answered: AbortController } | undefined;
  idle: AbortController | undefined;
}

const cutOff = (what: string, limitMs: number): ToolplaneError =>
  new ToolplaneError("bad_request", `${what} takes longer than ${limitMs / 1000} s: make it smaller or simpler`, {
    detail: { limit_ms: limitMs },
  });

const outOfMemory = (what: string): ToolplaneError =>
  new ToolplaneError("payload_too_large", `${what} takes too much memory: make it smaller`);

const turnedAway = (what: string): ToolplaneError =>
  new ToolplaneError(
    "rate_limited",
    `${what} has to wait: the project has too much of this work open; try again later`,
  );

const closed = (): ToolplaneError => new ToolplaneError("canceled", "the server is stopping");

export const createThreads = ({ clock, ...options }: ThreadsOptions): Threads => {
  const size = options.size ?? DEFAULT_SIZE;
  const limitMs = options.limitMs ?? DEFAULT_LIMIT_MS;
  const closeMs = options.closeMs ?? DEFAULT_CLOSE_MS;
  const resourceLimits = {
    ...RESOURCE_LIMITS,
    maxOldGenerationSizeMb: options.heapMb ?? RESOURCE_LIMITS.maxOldGenerationSizeMb,
  };
  const line = createFairLine<Waiting>({
    maxWaiting: options.maxWaiting ?? DEFAULT_MAX_WAITING,
    maxRunning: Math.max(size - 1, 1),
  });
  const threads = new Set<Thread>();
  const ending = new Set<Promise<unknown>>();
  const counts = { started: 0, cutOff: 0, turnedAway: 0 };
  let closing = false;

  const finish = (thread: Thread, end: (task: Waiting) => void): void => {
    const { job } = thread;
    if (job === undefined) return;
    thread.job = undefined;
    job.answered.abort();
    line.done(job.task.tenant);
    end(job.task);
  };

  const drop = (thread: Thread): void => {
    threads.delete(thread);
    thread.idle?.abort();
    const end = thread.worker.terminate().finally(() => {
      ending.delete(end);
      pump();
    });
    ending.add(end);
  };

  const rest = (thread: Thread): void => {
    const idle = new AbortController();
    thread.idle = idle;
    void clock.sleep(IDLE_MS, idle.signal).then(
      () => idle.signal.aborted || drop(thread),
      () => undefined,
    );
  };

  const watchTime = (thread: Thread, { task, answered }: NonNullable<Thread["job"]>): void => {
    void clock.sleep(limitMs, answered.signal).then(
      () => {
        if (answered.signal.aborted) return;
        counts.cutOff++;
        drop(thread);
        finish(thread, () => task.reject(cutOff(task.what, limitMs)));
        pump();
      },
      () => undefined,
    );
  };

  const give = (thread: Thread, task: Waiting): void => {
    thread.idle?.abort();
    thread.idle = undefined;
    thread.job = { task, answered: new AbortController() };
    counts.started++;
    const question: ThreadQuestion = { module: task.module.href, input: task.input };
    thread.worker.postMessage(question);
    watchTime(thread, thread.job);
  };

  const hear = (thread: Thread, message: ThreadMessage): void => {
    if (message === "ready") thread.ready = true;
    else
      finish(thread, (task) => {
        if ("output" in message) task.resolve(message.output);
        else
          task.reject(new ToolplaneError(message.error.code, message.error.message, { detail: message.error.detail }));
      });
    pump();
  };

  /** A thread that ended by itself: out of memory, or a fault of our code. */
  const lose = (thread: Thread, error: unknown): void => {
    drop(thread);
    const memory = (error as { readonly code?: unknown } | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY";
    if (memory) counts.cutOff++;
    const cause = { cause: error };
    finish(thread, ({ what, reject }) =>
      reject(memory ? outOfMemory(what) : new ToolplaneError("internal_error", `${what} failed`, cause)),
    );
    if (!closing) pump();
  };

  const start = (): void => {
    const worker = new Worker(PROGRAM, { execArgv: EXEC_ARGV, env: {}, resourceLimits });
    const thread: Thread = { worker, ready: false, job: undefined, idle: undefined };
    threads.add(thread);
    worker.unref();
    worker.on("message", (message: ThreadMessage) => hear(thread, message));
    worker.on("error", (error) => lose(thread, error));
    worker.on("exit", () => threads.has(thread) && lose(thread, undefined));
  };

  const pump = (): void => {
    for (const thread of threads) {
      if (!thread.ready || thread.job !== undefined) continue;
      const next = line.take();
      if (next !== undefined) give(thread, next.item);
      else if (thread.idle === undefined) rest(thread);
    }
    const starting = [...threads].filter(({ ready }) => !ready).length;
    const hasRoom = threads.size < size && threads.size + ending.size < 2 * size;
    if (!closing && line.waiting > starting && hasRoom) start();
  };

  return {
    run<Output>(task: ThreadTask): Promise<Output> {
      return new Promise((resolve, reject) => {
        if (closing) return reject(closed());
        const taken = line.push(task.tenant, { ...task, resolve: resolve as (output: unknown) => void, reject });
        if (!taken) {
          counts.turnedAway++;
          return reject(turnedAway(task.what));
        }
        pump();
      });
    },
    stats: () => ({ ...counts, waiting: line.waiting, threads: threads.size, ending: ending.size }),
    async close() {
      closing = true;
      for (const task of line.drain()) task.reject(closed());
      for (const thread of threads) {
        drop(thread);
        finish(thread, (task) => task.reject(closed()));
      }
      await inTime(clock, closeMs, Promise.all(ending));
    },
  };
};
