// The calls of one host: which wait, which run where, and what happens to them when their process dies.
// Q1. Every call is settled once, at its deadline at the latest.
// Q2. A call whose process died goes to the front of the queue and to another process, if it may run again (plan-failure).

import { isToolplaneError, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import type { HostResponse } from "@toolplane/protocol/host";
import { type CrewDeps, type CrewListener, HostCrew } from "./crew.ts";
import { createDeadlineBook, type DeadlineBook } from "./deadline-book.ts";
import type { HostStatus } from "./host.ts";
import type { HostProcess } from "./host-process.ts";
import { canceledError, closedError, lostError, planLost, queueFullError, timeoutError } from "./plan-failure.ts";
import { planFeed } from "./plan-feed.ts";
import type { PoolTask } from "./pool-task.ts";
import type { JobOwner } from "./running-job.ts";
import { createTaskQueue } from "./task-queue.ts";

/** The program or its configuration is wrong: starting it again changes nothing. */
const isPermanent = (error: ToolplaneError): boolean => error.code === "not_found" || error.code === "bad_request";

/** What the caller gave is not JSON, or too much of it. */
const unwritable = (error: unknown): ToolplaneError =>
  isToolplaneError(error)
    ? error
    : new ToolplaneError("bad_request", "the arguments or the state cannot be written as JSON", { cause: error });

/** A listener of parts may throw; that is not the host's fault. */
const emitSafely = (emit: (part: JsonValue) => void, part: JsonValue): void => {
  try {
    emit(part);
  } catch {
    // Progress may be lost.
  }
};

export class HostPool implements JobOwner, CrewListener {
  readonly crew: HostCrew;
  readonly #deps: CrewDeps;
  readonly #queue = createTaskQueue<PoolTask>();
  readonly #deadlines: DeadlineBook;
  #closed = false;

  constructor(deps: CrewDeps) {
    this.#deps = deps;
    this.crew = new HostCrew(deps, this);
    this.#deadlines = createDeadlineBook(
      deps.timers,
      () => [...this.#queue.list(), ...this.crew.processes.flatMap((process) => process.tasks())],
      (task) => this.#expire(task),
    );
  }

  submit(task: PoolTask): void {
    task.deadlineAt = this.#deps.timers.now() + task.deadlineMs;
    const refusal = this.#refusal(task);
    if (refusal !== undefined) {
      this.#fail(task, refusal);
      return;
    }
    const { signal } = task;
    if (signal !== undefined) {
      const stop = (): void => this.#giveUp(task, canceledError(this.#deps.name));
      signal.addEventListener("abort", stop, { once: true });
      task.stopListening = () => signal.removeEventListener("abort", stop);
    }
    this.#deadlines.note(task.deadlineAt);
    this.#queue.push(task);
    this.onRoom();
    const { name, limits } = this.#deps;
    // Only a call that would have to wait can exceed the queue.
    if (this.#queue.length > limits.queue && this.#queue.remove(task))
      this.#fail(task, queueFullError(name, limits.queue));
  }

  status(): HostStatus {
    return { ...this.crew.status(), queued: this.#queue.length };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const task of this.#queue.takeAll()) this.#fail(task, closedError(this.#deps.name));
    await this.crew.close();
    this.#deadlines.close();
  }

  /** Gives waiting calls to processes, as far as possible. */
  onRoom(): void {
    const { crew } = this;
    while (this.#queue.length > 0) {
      const { feed, start } = planFeed(crew.processes, this.#deps.limits, this.#queue.length, crew.probing);
      const started = start && this.#start();
      const process = feed === undefined ? undefined : crew.processes[feed];
      if (process !== undefined) this.#feed(process);
      else if (!started) return;
    }
  }

  onStartFailed(error: ToolplaneError): void {
    for (const task of this.#queue.list()) {
      task.failedStarts += 1;
      if (!isPermanent(error) && task.failedStarts < this.#deps.limits.attempts) continue;
      this.#queue.remove(task);
      const code = isPermanent(error) ? error.code : "upstream_unavailable";
      this.#fail(task, new ToolplaneError(code, error.message, { detail: { host: this.#deps.name } }));
    }
    this.onRoom();
  }

  onPart(task: PoolTask, payload: JsonValue, bytes: number): void {
    const { parts, partBytes } = this.#deps.limits;
    if (task.emit === undefined || task.settled) return;
    const wasWithin = task.parts <= parts && task.partBytes <= partBytes;
    task.parts += 1;
    task.partBytes += bytes;
    if (task.parts <= parts && task.partBytes <= partBytes) {
      emitSafely(task.emit, payload);
    } else if (wasWithin) {
      const what = "a call sends more parts than are passed on; the rest is dropped";
      this.#deps.diagnostics.report("parts_dropped", what, task.pid);
    }
  }

  onAnswer(task: PoolTask, response: HostResponse): void {
    this.#answered(task);
    if (this.#conclude(task)) task.onAnswer(response);
    if (this.#queue.length > 0) this.onRoom();
  }

  onFault(task: PoolTask, error: ToolplaneError): void {
    this.#answered(task);
    this.#fail(task, error);
    if (this.#queue.length > 0) this.onRoom();
  }

  onLost(task: PoolTask, written: boolean, why: string): void {
    task.running = undefined;
    task.written = written;
    this.#lost(task, why);
  }

  #answered(task: PoolTask): void {
    task.running = undefined;
    task.written = true;
    this.crew.answered();
  }

  #refusal(task: PoolTask): ToolplaneError | undefined {
    const { name } = this.#deps;
    if (this.#closed) return closedError(name);
    if (task.signal?.aborted === true) return canceledError(name);
    if (task.deadlineMs <= 0) return timeoutError(name, 0, false);
    return this.crew.refusal();
  }

  #start(): boolean {
    if (this.crew.tryStart()) return true;
    const refusal = this.crew.refusal();
    if (refusal === undefined) return false;
    for (const task of this.#queue.takeAll()) {
      const why = this.crew.lastFailure ?? "its process is gone";
      const tried = lostError(
        "upstream_unavailable",
        this.#deps.name,
        why,
        task.attempts,
        this.#deps.words.last(task.pid),
      );
      this.#fail(task, task.attempts > 0 ? tried : refusal);
    }
    return false;
  }

  #feed(process: HostProcess): void {
    const task = this.#queue.shift();
    if (task === undefined) return;
    task.pid = process.pid;
    const msLeft = Math.max(1, Math.floor(task.deadlineAt - this.#deps.timers.now()));
    try {
      task.running = process.run(task, this, msLeft);
      task.attempts += 1;
    } catch (error) {
      this.#fail(task, unwritable(error));
    }
  }

  #lost(task: PoolTask, why: string): void {
    const { written, attempts, retrySafe } = task;
    const { name, limits, words } = this.#deps;
    const plan = planLost({ written, retrySafe, attempts, maxAttempts: limits.attempts });
    if (!plan.again) this.#fail(task, lostError(plan.code, name, why, attempts, words.last(task.pid)));
    else if (this.#closed) this.#fail(task, closedError(name));
    // The process reports its end right after this; then the call is given out again.
    else this.#queue.pushFront(task);
  }

  #expire(task: PoolTask): void {
    const written = task.running?.written ?? task.written;
    this.#giveUp(task, timeoutError(this.#deps.name, task.deadlineMs, written));
  }

  #giveUp(task: PoolTask, error: ToolplaneError): void {
    if (task.settled) return;
    const { running } = task;
    task.running = undefined;
    if (running === undefined) {
      this.#queue.remove(task);
    } else {
      task.written = running.written;
      running.place.abandon(running);
    }
    this.#fail(task, error);
  }

  #fail(task: PoolTask, error: ToolplaneError): void {
    if (this.#conclude(task)) task.onFailed(error);
  }

  #conclude(task: PoolTask): boolean {
    if (task.settled) return false;
    task.settled = true;
    task.stopListening();
    return true;
  }
}
