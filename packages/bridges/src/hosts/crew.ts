// The processes of one host: started as needed, replaced when they crash, stopped when they have nothing to do.
// CW1. A host that crashes again and again is not restarted for a while (plan-restart); waiting calls are told.
// CW2. The description by the first process holds for all; every process has its own init.
// CW3. A host that does not answer hello, or dies of it, is started again as plain v1. That is final, unless its start was so
//     slow that the silence meant nothing (plan-hello); then it is asked once more before it is served.

import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import type { HostDescription, HostStatus } from "./host.ts";
import { HostProcess, type ProcessDeps, type ProcessEnd } from "./host-process.ts";
import type { HostMode, OpenedHost, Talk } from "./open-host.ts";
import { breakerError, closedError, withoutHostName } from "./plan-failure.ts";
import { planHelloAgain } from "./plan-hello.ts";
import { NO_CRASHES, planAnswered, planCrash, planStart, type RestartState } from "./plan-restart.ts";

export interface Opening {
  readonly mode: HostMode;
  readonly describe: boolean;
  readonly helloMs: number;
}

export interface CrewDeps extends Omit<ProcessDeps, "onRoom" | "onGone"> {
  /** The first conversation with a process. */
  readonly open: (talk: Talk, how: Opening) => Promise<OpenedHost | undefined>;
}

export interface CrewListener {
  /** There may be room for a call, or a new process may be started. */
  onRoom(): void;
  /** A process could not be started, and no other one is there. */
  onStartFailed(error: ToolplaneError): void;
}

const asToolplaneError = (error: unknown, name: string): ToolplaneError =>
  isToolplaneError(error)
    ? error
    : new ToolplaneError("upstream_unavailable", `host ${name}: it could not be started`, { cause: error });

export class HostCrew {
  readonly processes: HostProcess[] = [];
  readonly #deps: CrewDeps;
  readonly #listener: CrewListener;
  readonly #endings = new Set<Promise<unknown>>();
  #restart: RestartState = NO_CRASHES;
  #mode: HostMode = "unknown";
  #helloMs: number;
  #description: HostDescription | undefined;
  /** The start that is under way. */
  #opening: Promise<void> | undefined;
  #starts = 0;
  #crashes = 0;
  #lastFailure: string | undefined;
  #callOffRetry = (): void => {};
  #callOffIdle: (() => void) | undefined;
  #closed = false;

  constructor(deps: CrewDeps, listener: CrewListener) {
    this.#deps = deps;
    this.#listener = listener;
    this.#helloMs = deps.limits.helloMs;
  }

  get description(): HostDescription | undefined {
    return this.#description;
  }

  get lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  /** Only one call may be sent: it decides whether the host works again. */
  get probing(): boolean {
    return this.#restart.breaker === "half_open";
  }

  /** One process at least, and what it offers. */
  async start(): Promise<HostDescription> {
    const { name } = this.#deps;
    if (this.#closed) throw closedError(name);
    // An explicit start does not wait for a backoff; it is the breaker's probe.
    if (this.#restart.breaker === "open") this.#restart = { ...this.#restart, breaker: "half_open" };
    const ready = this.processes.some(({ state }) => state === "ready");
    if (!ready || this.#description === undefined) await (this.#opening ?? this.#startProcess());
    if (this.#description === undefined) throw closedError(name);
    return this.#description;
  }

  /** Starts another process if it may; otherwise `onRoom` says when it is worth asking again. */
  tryStart(): boolean {
    if (this.#closed) return false;
    const plan = planStart(this.#restart, this.#deps.timers.now());
    if (plan.kind === "start") {
      this.#restart = plan.state;
      void this.#startProcess().catch(() => undefined);
      return true;
    }
    if (plan.kind === "wait") {
      this.#callOffRetry();
      this.#callOffRetry = this.#deps.timers.after(Math.ceil(plan.ms), () => this.#listener.onRoom());
    }
    return false;
  }

  /** The breaker refuses only when no process is left that could run the call. */
  refusal(): ToolplaneError | undefined {
    if (this.#restart.breaker !== "open" || this.processes.some(({ state }) => state !== "stopping")) return undefined;
    const plan = planStart(this.#restart, this.#deps.timers.now());
    return plan.kind === "refuse" ? breakerError(this.#deps.name, plan.ms, this.#lastFailure) : undefined;
  }

  /** The host answered a call. This ends a row of crashes (RS1), or closes the breaker after a probe. */
  answered(): void {
    if (this.#restart.row > 0 || this.#restart.breaker === "half_open") this.#restart = planAnswered(this.#restart);
    if (this.#callOffIdle === undefined) this.#watchIdle();
  }

  status(): Omit<HostStatus, "queued"> {
    const plan = planStart(this.#restart, this.#deps.timers.now());
    return {
      name: this.#deps.name,
      processes: this.processes.map(({ pid, state, inFlight, answered, startedAt, extensions }) => ({
        pid,
        state,
        inFlight,
        answered,
        startedAt,
        extensions,
      })),
      starts: this.#starts,
      crashes: this.#crashes,
      breaker: { state: this.#restart.breaker, retryInMs: plan.kind === "start" ? 0 : Math.ceil(plan.ms) },
      lastStderr: this.#deps.words.last(),
      lastFailure: this.#lastFailure,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#callOffRetry();
    this.#callOffIdle?.();
    await Promise.all(this.processes.map((process) => process.stop("the host is being closed")));
    await Promise.all(this.#endings);
  }

  #startProcess(): Promise<void> {
    const opening = this.#openProcess().finally(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    this.#opening = opening;
    this.#track(opening);
    return opening;
  }

  /** `silentMs`: how long the process before this one had for its hello, when it said nothing. */
  async #openProcess(silentMs?: number): Promise<void> {
    this.#starts += 1;
    const how = { mode: this.#mode, describe: this.#description === undefined, helloMs: this.#helloMs };
    const process = new HostProcess({
      ...this.#deps,
      onRoom: () => this.#listener.onRoom(),
      onGone: (gone, end) => this.#gone(gone, end),
    });
    this.processes.push(process);
    let opened: OpenedHost | undefined;
    try {
      opened = await process.start((talk) => this.#deps.open(talk, how));
    } catch (cause) {
      const error = asToolplaneError(cause, this.#deps.name);
      this.#startFailed(process, error);
      throw error;
    }
    if (opened === undefined) {
      this.#remove(process);
      this.#mode = "plain";
      const why = "it did not answer hello and is started again as plain v1";
      this.#deps.diagnostics.report("plain_v1", why, process.pid);
      if (this.#closed) throw closedError(this.#deps.name);
      await this.#openProcess(how.helloMs);
      return;
    }
    if (silentMs !== undefined) this.#judgeSilence(process.firstAnswerMs, silentMs);
    else if (this.#mode === "unknown") this.#mode = opened.extensions.length > 0 ? "extended" : "plain";
    const known = this.#description;
    // A later process may have answered the hello for which the first one was too slow.
    if (known?.extensions.length === 0) this.#description = { ...known, extensions: opened.extensions };
    if (opened.description !== undefined) this.#description ??= { ...opened.description, pid: process.pid ?? 0 };
    if (silentMs !== undefined && how.describe && this.#mode === "unknown") await this.#askAgain(process);
    this.#watchIdle();
    this.#listener.onRoom();
  }

  /** At once: otherwise its present process would be used as one that cannot cancel, for as long as it lives. */
  async #askAgain(plain: HostProcess): Promise<void> {
    try {
      await this.#openProcess();
    } catch {
      // The present process works.
      return;
    }
    if (plain.inFlight === 0) this.#track(plain.stop("another process has taken its place"));
  }

  #judgeSilence(firstAnswerMs: number, helloMs: number): void {
    const { startupMs } = this.#deps.limits;
    const again = planHelloAgain({ firstAnswerMs, helloMs, startupMs });
    if (again === undefined) return;
    this.#helloMs = again;
    this.#mode = "unknown";
  }

  #startFailed(process: HostProcess, error: ToolplaneError): void {
    this.#remove(process);
    if (this.#closed) return;
    this.#crashed(withoutHostName(this.#deps.name, error.message), process.pid);
    if (this.processes.some(({ state }) => state === "ready" || state === "draining")) this.#listener.onRoom();
    else this.#listener.onStartFailed(error);
  }

  #crashed(why: string, pid: number | undefined): void {
    const { timers, limits, random, diagnostics } = this.#deps;
    this.#crashes += 1;
    this.#lastFailure = why;
    this.#restart = planCrash(this.#restart, timers.now(), limits, random());
    diagnostics.report("crashed", why, pid);
  }

  #gone(process: HostProcess, { asked, why }: ProcessEnd): void {
    this.#remove(process);
    this.#track(process.stop(why));
    if (!asked && !this.#closed) this.#crashed(why, process.pid);
    this.#listener.onRoom();
  }

  #remove(process: HostProcess): void {
    const index = this.processes.indexOf(process);
    if (index >= 0) this.processes.splice(index, 1);
  }

  /** What `close` waits for. */
  #track(work: Promise<unknown>): void {
    const tracked = work.catch(() => undefined).finally(() => this.#endings.delete(tracked));
    this.#endings.add(tracked);
  }

  #watchIdle(): void {
    if (this.#callOffIdle !== undefined || this.#closed) return;
    const { timers, limits } = this.#deps;
    this.#callOffIdle = timers.afterQuietly(limits.idleMs, () => {
      this.#callOffIdle = undefined;
      const now = timers.now();
      let left = false;
      for (const process of this.processes) {
        const idle = process.state === "ready" && process.inFlight === 0;
        if (idle && now - process.idleSince >= limits.idleMs) this.#track(process.stop("it has nothing to do"));
        else left = true;
      }
      if (left) this.#watchIdle();
    });
  }
}
