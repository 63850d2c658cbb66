// One process of a host, from its start to its end.
// States: starting (the first messages) -> ready -> draining (one of its calls is stuck: no new ones) -> ready again, or stopping
// (told to end) -> gone. From any state -> gone when it dies.
// HP1. It is ended together with its whole group; `gone` is reported once, after everything it wrote has been read.
// HP2. A call that was given up keeps its place until the host has answered it, so a host never gets more than it can do.
// HP3. A host that cannot cancel is ended when its call is given up. A host that can cancel gets a grace, and its other calls go
//     on until only stuck ones are left, or until it does not even answer a ping.

import { tryReadCpuTime } from "@toolplane/processes";
import { exceedsBytes, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import { encodeHostRequest, type HostExtension, type HostResponse, readHostLog } from "@toolplane/protocol/host";
import { hearSilence } from "./hear-silence.ts";
import type { HostProcessState } from "./host.ts";
import { type ChildDeps, type HostChild, spawnHostChild } from "./host-child.ts";
import type { Attempt, JobPlace } from "./job-place.ts";
import type { OpenedHost, Talk } from "./open-host.ts";
import { tooLongError } from "./plan-failure.ts";
import type { FeedView } from "./plan-feed.ts";
import type { PoolTask } from "./pool-task.ts";
import { createQuestion, type JobOwner, RunningJob } from "./running-job.ts";

export interface ProcessDeps extends ChildDeps {
  readonly newId: () => string;
  /** There may be room for another call. */
  readonly onRoom: () => void;
  readonly onGone: (process: HostProcess, end: ProcessEnd) => void;
}

export interface ProcessEnd {
  /** We ended it; otherwise it crashed. */
  readonly asked: boolean;
  readonly why: string;
}

export class HostProcess implements FeedView, JobPlace {
  state: HostProcessState = "starting";
  inFlight = 0;
  bytes = 0;
  answered = 0;
  /** From its start to the first thing it answered. */
  firstAnswerMs = Number.POSITIVE_INFINITY;
  extensions: readonly HostExtension[] = [];
  cancels = false;
  takesDeadline = false;
  initState: JsonObject = {};
  readonly startedAt: number;
  /** When it last had nothing to do. */
  idleSince: number;
  readonly #deps: ProcessDeps;
  readonly #questions = new Set<(why: string) => void>();
  #child: HostChild | undefined;
  /** Why we are ending it. */
  #ending: string | undefined;
  /** Why it is gone. */
  #lastWhy = "its process is gone";
  #isGone = false;
  #wasReady = false;

  constructor(deps: ProcessDeps) {
    this.#deps = deps;
    this.startedAt = deps.timers.now();
    this.idleSince = this.startedAt;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it; `open` holds the first conversation. Rejects with the reason when it cannot be used, and is gone then. */
  async start(open: (talk: Talk) => Promise<OpenedHost | undefined>): Promise<OpenedHost | undefined> {
    const { limits, timers, name } = this.#deps;
    let opened: OpenedHost | undefined;
    let late = false;
    const callOff = timers.after(limits.startupMs, () => {
      late = true;
      this.kill(`it did not start within ${limits.startupMs} ms`, true);
    });
    try {
      await this.#spawn();
      opened = await open({
        ask: (method, params, timeoutMs) => this.#ask(method, params, timeoutMs),
        report: (message, output) => this.#deps.diagnostics.report("host_error", message, this.pid, output),
      });
    } catch (error) {
      const failure = late
        ? new ToolplaneError("upstream_unavailable", `host ${name}: it did not start within ${limits.startupMs} ms`)
        : error;
      this.kill("it could not be started", true);
      await this.#child?.ended;
      throw failure;
    } finally {
      callOff();
    }
    if (opened === undefined || this.#ending !== undefined || this.#isGone) {
      this.kill("it did not answer hello", true);
      await this.#child?.ended;
      if (opened !== undefined) throw new ToolplaneError("upstream_unavailable", `host ${name}: ${this.#lastWhy}`);
      return undefined;
    }
    this.extensions = opened.extensions;
    this.cancels = opened.extensions.includes("cancel");
    this.takesDeadline = opened.extensions.includes("deadline");
    this.initState = opened.initState;
    this.idleSince = timers.now();
    this.state = "ready";
    this.#wasReady = true;
    return opened;
  }

  /** Throws, and has done nothing, when the request cannot be written. */
  run(task: PoolTask, owner: JobOwner, msLeft: number): RunningJob {
    const id = this.#deps.newId();
    const line = task.encode(id, this, msLeft);
    const { lineBytes } = this.#deps.limits;
    if (exceedsBytes(line, lineBytes)) {
      throw new ToolplaneError("payload_too_large", `the call is larger than ${lineBytes} bytes; send less`, {
        detail: { max_bytes: lineBytes },
      });
    }
    const running = new RunningJob(id, task, this, owner, line);
    this.inFlight += 1;
    this.bytes += running.size;
    this.#child?.connection.send(running);
    return running;
  }

  /** The caller has stopped waiting: its deadline or a cancellation came first. */
  abandon(running: Attempt): void {
    if (running.abandoned || !this.#isOpen(running)) return;
    running.abandoned = true;
    if (this.#child?.connection.takeBack(running) === true) {
      this.jobDone(running, false);
    } else if (this.cancels) {
      this.giveUp(running);
    } else {
      this.kill("its call was given up and it cannot cancel");
    }
  }

  /** A call that is over here must end in the host soon. */
  giveUp(running: Attempt): void {
    if (this.cancels) this.#quietly("cancel", { id: running.id });
    this.#deps.timers.afterQuietly(this.#deps.limits.graceMs, () => {
      if (!this.#isOpen(running) || this.state === "stopping") return;
      if (this.cancels) this.#drain();
      else this.kill("its call did not end");
    });
  }

  jobDone(running: Attempt, answered: boolean): void {
    this.inFlight -= 1;
    this.bytes -= running.size;
    if (answered) this.answered += 1;
    if (this.inFlight === 0) this.idleSince = this.#deps.timers.now();
    this.#checkDrained();
    if (!running.abandoned) return;
    // The job whose answer is being reported fills the places itself.
    this.#deps.onRoom();
  }

  hear(payload: JsonValue): void {
    this.#deps.words.say(readHostLog(payload), this.pid ?? 0);
  }

  tooLong(): ToolplaneError {
    return tooLongError(this.#deps.name, this.#deps.limits.lineBytes);
  }

  /** Asks it to finish and go; ends it when it does not within the grace. Resolves when nothing of it is left. */
  async stop(why: string): Promise<void> {
    if (this.state === "starting") this.kill(why, true);
    if (this.#ending === undefined && !this.#isGone) {
      this.#ending = why;
      this.state = "stopping";
      if (this.extensions.includes("shutdown")) this.#quietly("shutdown", {});
      this.#child?.connection.finish();
      const callOff = this.#deps.timers.after(this.#deps.limits.graceMs, () => this.#child?.end("SIGTERM"));
      void this.#child?.ended.then(callOff);
    }
    await this.#child?.ended;
  }

  /** Ends the whole group: SIGTERM, grace, SIGKILL. `atOnce` when it has done nothing that could need cleaning up. */
  kill(why: string, atOnce = false): void {
    if (this.#isGone) return;
    if (this.#ending === undefined) {
      this.#ending = why;
      if (this.state !== "starting") this.#deps.diagnostics.report("killed", `ended, because ${why}`, this.pid);
    }
    this.state = "stopping";
    this.#child?.end(atOnce ? "SIGKILL" : "SIGTERM");
  }

  async #spawn(): Promise<void> {
    const child = await spawnHostChild(this.#deps, {
      // Whatever the outcome, it gets no more calls.
      onBroken: () => {
        if (this.state === "ready" || this.state === "draining") this.state = "stopping";
      },
      onGone: (why, clean) => this.#gone(why, clean),
    });
    this.#child = child;
    // The startup time may have ended while the guard was asked.
    if (this.#ending !== undefined) child.end("SIGKILL");
  }

  #isOpen(running: Attempt): boolean {
    return this.#child?.connection.open().get(running.id) === running;
  }

  /** Its calls that a caller still waits for. */
  tasks(): readonly PoolTask[] {
    return this.#openJobs().flatMap(({ abandoned, task }) => (abandoned ? [] : [task]));
  }

  #openJobs(): RunningJob[] {
    const asks = this.#child?.connection.open().list() ?? [];
    return asks.filter((ask) => ask instanceof RunningJob);
  }

  #gone(reason: string, clean: boolean): void {
    this.#isGone = true;
    this.state = "stopping";
    const why = this.#ending ?? reason;
    this.#lastWhy = why;
    for (const give of [...this.#questions]) give(why);
    // Backwards, because each call that may run again goes to the front of the queue.
    const lost = this.#openJobs().reverse();
    // A host that exits between two calls has not crashed.
    const asked = this.#ending !== undefined || (clean && lost.length === 0);
    this.inFlight = 0;
    this.bytes = 0;
    for (const running of lost) {
      // A grandchild may still write to our pipe.
      this.#child?.connection.forget(running);
      running.onLost(why);
    }
    // A process that never became ready is reported by its start.
    if (this.#wasReady) this.#deps.onGone(this, { asked, why });
  }

  #ask(method: string, params: JsonObject, timeoutMs?: number): Promise<HostResponse> {
    return new Promise((resolve, reject) => {
      const id = this.#deps.newId();
      let callOff = (): void => {};
      const settle = (response: HostResponse | undefined, error: ToolplaneError | undefined): void => {
        callOff();
        this.#questions.delete(lost);
        if (response === undefined) {
          reject(error);
          return;
        }
        this.firstAnswerMs = Math.min(this.firstAnswerMs, this.#deps.timers.now() - this.startedAt);
        resolve(response);
      };
      const lost = (why: string): void =>
        settle(undefined, new ToolplaneError("upstream_unavailable", `host ${this.#deps.name}: ${why}`));
      this.#questions.add(lost);
      const question = createQuestion(id, method, encodeHostRequest(id, method, params), settle);
      if (timeoutMs !== undefined) {
        const cpuTime = (): number | undefined => (this.pid === undefined ? undefined : tryReadCpuTime(this.pid));
        // Half the startup time is left for what comes after.
        const silence = { silentMs: timeoutMs, atMostMs: this.#deps.limits.startupMs / 2, cpuTime };
        callOff = hearSilence(this.#deps.timers, silence, () => {
          this.#child?.connection.forget(question);
          settle(undefined, new ToolplaneError("tool_timeout", `host ${this.#deps.name}: no answer to ${method}`));
        });
      }
      if (this.#isGone) lost(this.#lastWhy);
      else this.#child?.connection.send(question);
    });
  }

  /** A request whose answer changes nothing. */
  #quietly(method: string, params: JsonObject): void {
    const id = this.#deps.newId();
    const question = createQuestion(id, method, encodeHostRequest(id, method, params), () => undefined);
    this.#child?.connection.send(question);
    // Some hosts take it for a notification and never answer.
    this.#deps.timers.afterQuietly(this.#deps.limits.unresponsiveMs, () => this.#child?.connection.forget(question));
  }

  #drain(): void {
    // Another call was stuck already, and this call may be the last one for which a caller waits.
    if (this.state === "draining") this.#checkDrained();
    if (this.state !== "ready") return;
    this.state = "draining";
    this.#checkDrained();
    if (this.state !== "draining" || !this.extensions.includes("ping")) return;
    const lines = this.#child?.connection.linesRead() ?? 0;
    this.#quietly("ping", {});
    this.#deps.timers.after(this.#deps.limits.unresponsiveMs, () => {
      if (this.state !== "draining" || this.#child?.connection.linesRead() !== lines) return;
      this.kill("it does not answer");
    });
  }

  #checkDrained(): void {
    if (this.state !== "draining") return;
    const open = this.#openJobs();
    const stuck = open.filter(({ abandoned }) => abandoned).length;
    if (stuck === 0) {
      this.state = "ready";
      this.#deps.onRoom();
    } else if (stuck === open.length) {
      this.kill("calls that were canceled did not end");
    }
  }
}
