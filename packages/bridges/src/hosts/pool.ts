// The processes of one host and the calls for them: who runs where, what happens when a process dies.
// Q1. Every call that was accepted is settled once, at its deadline at the latest.
// Q2. A lost call goes to the front and to another process, if it may run again at all (plan-failure).
// Q3. A process that crashes again and again is left alone (plan-restart); calls that wait for it are told.

import { isToolplaneError, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import type { Random } from "@toolplane/sdk";
import { createDeadlineBook, type DeadlineBook } from "./deadline-book.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { HostDescription, HostStatus } from "./host.ts";
import type { HostLimits } from "./host-limits.ts";
import type { HostWords } from "./host-log.ts";
import { HostProcess, type ProcessDeps, type ProcessEnd } from "./host-process.ts";
import type { HostMode, OpenedHost, Talk } from "./open-host.ts";
import {
  breakerError,
  canceledError,
  closedError,
  lostError,
  planLost,
  queueFullError,
  timeoutError,
} from "./plan-failure.ts";
import { planFeed } from "./plan-feed.ts";
import { NO_CRASHES, planAnswered, planCrash, planStart, type RestartState } from "./plan-restart.ts";
import { createPoolTask, type PoolTask, type TaskRequest } from "./pool-task.ts";
import type { JobEnd } from "./running-job.ts";
import { createTaskQueue } from "./task-queue.ts";
import type { Timers } from "./timers.ts";

export interface PoolDeps extends Omit<ProcessDeps, "onRoom" | "onGone"> {
  readonly random: Random;
  /** The first conversation with a process. */
  readonly open: (talk: Talk, mode: HostMode, describe: boolean) => Promise<OpenedHost | undefined>;
}

/** The program or its configuration is wrong: starting it again changes nothing. */
const isPermanent = (error: ToolplaneError): boolean => error.code === "not_found" || error.code === "bad_request";

const asToolplaneError = (error: unknown, name: string): ToolplaneError =>
  isToolplaneError(error)
    ? error
    : new ToolplaneError("upstream_unavailable", `host ${name}: it could not be started`, { cause: error });

/** What the caller gave is no JSON, or too much of it. */
const unwritable = (error: unknown): ToolplaneError =>
  isToolplaneError(error)
    ? error
    : new ToolplaneError("bad_request", "the arguments or the state cannot be written as JSON", { cause: error });

/** Whoever listens to parts has its own faults; they are not the host's. */
const emitSafely = (emit: NonNullable<TaskRequest["emit"]>, part: JsonValue): void => {
  try {
    emit(part);
  } catch {
    // Progress may be lost.
  }
};

export class HostPool {
  readonly #deps: PoolDeps;
  readonly #name: string;
  readonly #limits: HostLimits;
  readonly #timers: Timers;
  readonly #diagnostics: Diagnostics;
  readonly #words: HostWords;
  readonly #processes: HostProcess[] = [];
  readonly #queue = createTaskQueue<PoolTask>();
  readonly #deadlines: DeadlineBook<PoolTask>;
  readonly #endings = new Set<Promise<unknown>>();
  #restart: RestartState = NO_CRASHES;
  #mode: HostMode = "unknown";
  #description: HostDescription | undefined;
  #starts = 0;
  #crashes = 0;
  #lastFailure: string | undefined;
  #callOffPump: (() => void) | undefined;
  #callOffIdle: (() => void) | undefined;
  /** The start that is under way. */
  #opening: Promise<void> | undefined;
  #closed = false;

  constructor(deps: PoolDeps) {
    this.#deps = deps;
    this.#name = deps.name;
    this.#limits = deps.limits;
    this.#timers = deps.timers;
    this.#diagnostics = deps.diagnostics;
    this.#words = deps.words;
    this.#deadlines = createDeadlineBook(deps.timers, (task) => this.#expire(task));
  }

  get description(): HostDescription | undefined {
    return this.#description;
  }

  /** One process at least, and what it offers. */
  async start(): Promise<HostDescription> {
    if (this.#closed) throw closedError(this.#name);
    // Whoever asks for a start by name does not wait for a backoff; it is the breaker's probe.
    if (this.#restart.breaker === "open") this.#restart = { ...this.#restart, breaker: "half_open" };
    const ready = this.#processes.some(({ state }) => state === "ready");
    if (!ready || this.#description === undefined) await (this.#opening ?? this.#startProcess());
    if (this.#description === undefined) throw closedError(this.#name);
    this.#pump();
    return this.#description;
  }

  submit(request: TaskRequest): PoolTask {
    const task = createPoolTask(request, this.#timers.now());
    const refusal = this.#refusal(task);
    if (refusal !== undefined) {
      this.#fail(task, refusal);
      return task;
    }
    const { signal } = request;
    if (signal !== undefined) {
      const stop = (): void => this.#giveUp(task, canceledError(this.#name));
      signal.addEventListener("abort", stop, { once: true });
      task.stopListening = () => signal.removeEventListener("abort", stop);
    }
    this.#deadlines.add(task, task.deadlineAt);
    this.#queue.push(task);
    this.#pump();
    return task;
  }

  status(): HostStatus {
    const now = this.#timers.now();
    const start = planStart(this.#restart, now);
    return {
      name: this.#name,
      processes: this.#processes.map(({ pid, state, inFlight, answered, startedAt, extensions }) => ({
        pid,
        state,
        inFlight,
        answered,
        startedAt,
        extensions,
      })),
      queued: this.#queue.length,
      starts: this.#starts,
      crashes: this.#crashes,
      breaker: { state: this.#restart.breaker, retryInMs: start.kind === "start" ? 0 : Math.ceil(start.ms) },
      lastStderr: this.#words.last(),
      lastFailure: this.#lastFailure,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#callOffPump?.();
    this.#callOffIdle?.();
    for (const task of this.#queue.takeAll()) this.#fail(task, closedError(this.#name));
    await Promise.all(this.#processes.map((process) => process.stop("the host is being closed")));
    await Promise.all(this.#endings);
    this.#deadlines.clear();
  }

  #refusal(task: PoolTask): ToolplaneError | undefined {
    if (this.#closed) return closedError(this.#name);
    if (task.request.signal?.aborted === true) return canceledError(this.#name);
    if (task.request.deadlineMs <= 0) return timeoutError(this.#name, 0, false);
    if (this.#queue.length >= this.#limits.queue && this.#queue.length > 0) {
      return queueFullError(this.#name, this.#queue.length);
    }
    return this.#openBreaker();
  }

  /** The breaker refuses only when there is nobody left who could do it. */
  #openBreaker(): ToolplaneError | undefined {
    if (this.#restart.breaker !== "open" || this.#processes.some(({ state }) => state !== "stopping")) return undefined;
    const plan = planStart(this.#restart, this.#timers.now());
    return plan.kind === "refuse" ? breakerError(this.#name, plan.ms, this.#lastFailure) : undefined;
  }

  #pump(): void {
    while (this.#queue.length > 0) {
      const probing = this.#restart.breaker === "half_open";
      const { feed, start } = planFeed(this.#processes, this.#limits, this.#queue.length, probing);
      const started = start && this.#mayStart();
      if (started) void this.#startProcess().catch(() => undefined);
      const process = feed === undefined ? undefined : this.#processes[feed];
      if (process !== undefined) this.#feed(process);
      else if (!started) return;
    }
  }

  #mayStart(): boolean {
    if (this.#closed) return false;
    const plan = planStart(this.#restart, this.#timers.now());
    if (plan.kind === "start") {
      this.#restart = plan.state;
      return true;
    }
    if (plan.kind === "refuse") {
      const refusal = this.#openBreaker();
      if (refusal !== undefined) for (const task of this.#queue.takeAll()) this.#failUnstarted(task, refusal);
      return false;
    }
    this.#callOffPump?.();
    this.#callOffPump = this.#timers.after(Math.ceil(plan.ms), () => this.#pump());
    return false;
  }

  #feed(process: HostProcess): void {
    const task = this.#queue.shift();
    if (task === undefined) return;
    task.attempts += 1;
    task.pid = process.pid;
    const msLeft = Math.max(1, Math.floor(task.deadlineAt - this.#timers.now()));
    try {
      const running = process.run({
        method: task.request.method,
        params: (place) => task.request.params(place, msLeft),
        onPart: (payload, bytes, pid) => this.#part(task, payload, bytes, pid),
        onEnd: (end) => this.#jobEnded(task, end),
      });
      task.place = { process, running };
    } catch (error) {
      this.#fail(task, unwritable(error));
    }
  }

  #part(task: PoolTask, payload: JsonValue, bytes: number, pid: number): void {
    const { emit } = task.request;
    if (emit === undefined || task.settled) return;
    task.parts += 1;
    task.partBytes += bytes;
    if (task.parts <= this.#limits.parts && task.partBytes <= this.#limits.partBytes) {
      emitSafely(emit, payload);
    } else if (task.parts - 1 <= this.#limits.parts && task.partBytes - bytes <= this.#limits.partBytes) {
      this.#diagnostics.report("parts_dropped", "a call sends more parts than are passed on; the rest is dropped", pid);
    }
  }

  #jobEnded(task: PoolTask, end: JobEnd): void {
    task.written = end.kind === "lost" ? end.written : true;
    task.place = undefined;
    if (end.kind === "lost") {
      this.#lost(task, end.why);
      return;
    }
    if (this.#restart.row > 0 || this.#restart.breaker !== "closed") this.#restart = planAnswered(this.#restart);
    if (end.kind === "answer") this.#settle(task, { kind: "answer", response: end.response });
    else this.#fail(task, end.error);
    if (this.#queue.length > 0) this.#pump();
    else this.#watchIdle();
  }

  #lost(task: PoolTask, why: string): void {
    const { retrySafe } = task.request;
    const { written, attempts } = task;
    const plan = planLost({ written, retrySafe, attempts, maxAttempts: this.#limits.attempts });
    if (!plan.again) this.#fail(task, lostError(plan.code, this.#name, why, attempts));
    else if (this.#closed) this.#fail(task, closedError(this.#name));
    // The process says that it is gone right after; that pumps.
    else this.#queue.pushFront(task);
  }

  #expire(task: PoolTask): void {
    const written = task.place?.running.written ?? task.written;
    this.#giveUp(task, timeoutError(this.#name, task.request.deadlineMs, written));
  }

  #giveUp(task: PoolTask, error: ToolplaneError): void {
    if (task.settled) return;
    const { place } = task;
    task.place = undefined;
    if (place === undefined) {
      this.#queue.remove(task);
    } else {
      task.written = place.running.written;
      place.process.abandon(place.running);
    }
    this.#fail(task, error);
  }

  #fail(task: PoolTask, error: ToolplaneError): void {
    this.#settle(task, { kind: "failed", error });
  }

  #failUnstarted(task: PoolTask, error: ToolplaneError): void {
    const tried = task.attempts > 0;
    const why = this.#lastFailure ?? "its process is gone";
    this.#fail(task, tried ? lostError("upstream_unavailable", this.#name, why, task.attempts) : error);
  }

  #settle(task: PoolTask, end: Parameters<TaskRequest["settle"]>[0]): void {
    if (task.settled) return;
    task.settled = true;
    this.#deadlines.remove(task);
    task.stopListening();
    task.request.settle(end, task);
  }

  #startProcess(): Promise<void> {
    const opening = this.#openProcess().finally(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    this.#opening = opening;
    return opening;
  }

  async #openProcess(): Promise<void> {
    this.#starts += 1;
    const describe = this.#description === undefined;
    const process = new HostProcess({
      ...this.#deps,
      onRoom: () => this.#pump(),
      onGone: (gone, end) => this.#gone(gone, end),
    });
    this.#processes.push(process);
    let opened: OpenedHost | undefined;
    const opening = process.start((talk) => this.#deps.open(talk, this.#mode, describe));
    this.#track(opening);
    try {
      opened = await opening;
    } catch (cause) {
      this.#remove(process);
      const error = asToolplaneError(cause, this.#name);
      this.#startFailed(error);
      throw error;
    }
    if (opened === undefined) {
      this.#remove(process);
      this.#mode = "plain";
      this.#diagnostics.report("plain_v1", "it did not answer hello and is started again as plain v1", process.pid);
      await this.#openProcess();
      return;
    }
    if (this.#mode === "unknown") this.#mode = opened.extensions.length > 0 ? "extended" : "plain";
    if (opened.description !== undefined) this.#description ??= { ...opened.description, pid: process.pid ?? 0 };
    if (this.#closed) {
      await process.stop("the host is being closed");
      throw closedError(this.#name);
    }
    this.#watchIdle();
    this.#pump();
  }

  #startFailed(error: ToolplaneError): void {
    if (this.#closed) return;
    this.#crashed(error.message);
    if (this.#processes.some(({ state }) => state === "ready" || state === "draining")) {
      this.#pump();
      return;
    }
    for (const task of this.#queue.list()) {
      task.failedStarts += 1;
      const over = isPermanent(error) || task.failedStarts >= this.#limits.attempts;
      if (!over) continue;
      this.#queue.remove(task);
      const detail: JsonObject = { host: this.#name };
      this.#fail(
        task,
        new ToolplaneError(isPermanent(error) ? error.code : "upstream_unavailable", error.message, { detail }),
      );
    }
    this.#pump();
  }

  #crashed(why: string): void {
    this.#crashes += 1;
    this.#lastFailure = why;
    this.#restart = planCrash(this.#restart, this.#timers.now(), this.#limits, this.#deps.random());
    this.#diagnostics.report("crashed", why, undefined);
  }

  #gone(process: HostProcess, { asked, why }: ProcessEnd): void {
    this.#remove(process);
    this.#track(process.stop(why));
    if (!asked && !this.#closed) this.#crashed(why);
    this.#pump();
  }

  #remove(process: HostProcess): void {
    const index = this.#processes.indexOf(process);
    if (index >= 0) this.#processes.splice(index, 1);
  }

  /** What `close` waits for. */
  #track(work: Promise<unknown>): void {
    const tracked = work.catch(() => undefined).finally(() => this.#endings.delete(tracked));
    this.#endings.add(tracked);
  }

  #watchIdle(): void {
    if (this.#callOffIdle !== undefined || this.#closed) return;
    this.#callOffIdle = this.#timers.afterQuietly(this.#limits.idleMs, () => {
      this.#callOffIdle = undefined;
      const now = this.#timers.now();
      let left = false;
      for (const process of this.#processes) {
        const idle = process.state === "ready" && process.inFlight === 0;
        if (idle && now - process.idleSince >= this.#limits.idleMs) this.#track(process.stop("it has nothing to do"));
        else left = true;
      }
      if (left) this.#watchIdle();
    });
  }
}
