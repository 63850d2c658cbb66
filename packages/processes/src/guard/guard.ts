// The parent's side of the guard: keeps one guard process running and tells it which processes must not outlive us.
// States: idle (nothing was ever watched, no process) -> running -> (it died) running again, told everything again -> closed (by
// us), or failed (it died again and again: reported once, and from then on `watch` fails).
// GD5. `watch` resolves when the living guard has confirmed the entry. When a guard dies before that, its successor confirms it.
// GD6. The guard keeps no process alive: the parent's event loop waits for it only while a confirmation is due.
// A limit: when parent and guard are both killed within the milliseconds that a replacement needs to start, the watched
// processes stay. A second guard would only make that moment shorter.

import { type ChildProcess, spawn } from "node:child_process";
import { dirname, isAbsolute, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { tryReadProcess } from "../table/process-table.ts";
import { createLineSplitter, type GuardAnswer, type GuardRequest, type WatchedEntry } from "./guard-messages.ts";

export interface WatchRequest {
  /** What it is, for people. */
  readonly label: string;
  /** The leader of a process group. */
  readonly pid?: number;
  /** The mark in its environment, and the user that only it has: processes that left its group are found by them. */
  readonly mark?: string;
  readonly soleUid?: number;
  /** Sent to the group first; SIGTERM unless given. */
  readonly signal?: NodeJS.Signals;
  /** From the signal to SIGKILL. */
  readonly graceMs?: number;
  /** An absolute path, removed with everything in it once all processes have ended. It may not exist yet. */
  readonly removeDir?: string;
}

export interface Watch {
  /** Resolves when the guard no longer watches it. */
  forget(): Promise<void>;
}

export interface Guard extends AsyncDisposable {
  /** The guard's process, once it was needed. */
  readonly pid: number | undefined;
  /** Resolves when the guard has confirmed it. */
  watch(request: WatchRequest): Promise<Watch>;
  /** Ends everything still watched, then the guard. */
  close(): Promise<void>;
}

// A well-behaved program ends in well under a second; a person who killed the parent waits no longer than that.
const DEFAULT_GRACE_MS = 1000;
// A guard that dies this often in a row will probably die again.
const RESTART_LIMIT = 5;
// A guard that has lived this long was healthy; its death starts a new count.
const HEALTHY_AFTER_MS = 10_000;

interface Pending {
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

const programPath = (): string => {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return fileURLToPath(new URL(`./guard-process.${extension}`, import.meta.url));
};

/** Where Node keeps compiled code, if configured: then the guard starts in a third of the time. */
const compileCache = (): { readonly NODE_COMPILE_CACHE?: string } => {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
};

const spawnGuardProcess = (): ChildProcess =>
  spawn(process.execPath, [programPath()], {
    // Its own session: signals to our terminal or group do not reach it. Nothing of ours is kept open: no stderr, no
    // working directory, no NODE_OPTIONS.
    detached: true,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", ...compileCache() },
    stdio: ["pipe", "pipe", "ignore"],
  });

// Checked, because the guard removes recursively and may be root: a wrong path would be fatal.
const checkRemoveDir = (path: string): string => {
  const clean = normalize(path);
  if (!isAbsolute(path) || clean !== path || dirname(dirname(clean)) === dirname(clean)) {
    throw new UsageError(`the guard removes only normalized absolute paths at least two levels deep, not ${path}`);
  }
  return path;
};

class GuardParent implements Guard {
  readonly #entries = new Map<number, WatchedEntry>();
  readonly #pending = new Map<string, Pending>();
  readonly #onFailure: (failure: ToolplaneError) => void;
  #nextId = 1;
  #child: ChildProcess | undefined;
  #startedAt = 0;
  #deaths = 0;
  #state: "open" | "closed" | "failed" = "open";

  constructor(onFailure: (failure: ToolplaneError) => void) {
    this.#onFailure = onFailure;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async watch(request: WatchRequest): Promise<Watch> {
    this.#checkOpen();
    const id = this.#nextId;
    this.#nextId += 1;
    const entry = this.#createEntry(id, request);
    this.#entries.set(id, entry);
    try {
      await this.#ask({ op: "watch", entry });
    } catch (cause) {
      this.#entries.delete(id);
      throw cause;
    }
    return { forget: () => this.#forget(id) };
  }

  async close(): Promise<void> {
    if (this.#state === "open") this.#state = "closed";
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.ref();
    child.stdin?.end();
    await gone;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #createEntry(id: number, request: WatchRequest): WatchedEntry {
    const { label, pid, mark, soleUid, removeDir, signal = "SIGTERM", graceMs = DEFAULT_GRACE_MS } = request;
    // When the leader is already gone, at most its group is left; a later process with its number is not ours.
    const started = pid === undefined ? undefined : (tryReadProcess(pid)?.started ?? "gone");
    return {
      id,
      label,
      signal,
      graceMs,
      ...(pid === undefined ? {} : { pid }),
      ...(started === undefined ? {} : { started }),
      ...(mark === undefined ? {} : { mark }),
      ...(soleUid === undefined ? {} : { soleUid }),
      ...(removeDir === undefined ? {} : { removeDir: checkRemoveDir(removeDir) }),
    };
  }

  async #forget(id: number): Promise<void> {
    if (!this.#entries.delete(id)) return;
    // A closed guard has ended everything; a failed guard watches nothing.
    if (this.#state !== "open" || this.#child === undefined) return;
    await this.#ask({ op: "forget", id });
  }

  #checkOpen(): void {
    if (this.#state === "closed") throw new UsageError("the guard was closed");
    if (this.#state === "failed") {
      throw new ToolplaneError("internal_error", "the guard process died again and again; no process may be started");
    }
  }

  #ask(request: GuardRequest): Promise<void> {
    const id = request.op === "watch" ? request.entry.id : request.id;
    return new Promise((resolve, reject) => {
      this.#pending.set(`${request.op} ${id}`, { resolve, reject });
      if (this.#child === undefined) this.#start();
      else this.#send(request);
      this.#child?.ref();
      this.#refOutput(true);
    });
  }

  /** Starts a guard process and tells it everything that is watched. */
  #start(): void {
    const child = spawnGuardProcess();
    this.#child = child;
    this.#startedAt = performance.now();
    child.stdout?.setEncoding("utf8");
    child.stdout?.on(
      "data",
      createLineSplitter((line) => this.#heard(JSON.parse(line) as GuardAnswer)),
    );
    // `exit` reports its death; a failed write adds nothing.
    child.stdin?.on("error", () => undefined);
    child.once("error", (cause) => this.#died(child, cause));
    child.once("exit", () => this.#died(child, undefined));
    for (const entry of this.#entries.values()) this.#send({ op: "watch", entry });
    this.#rest();
  }

  #send(request: GuardRequest): void {
    this.#child?.stdin?.write(`${JSON.stringify(request)}\n`);
  }

  #heard(answer: GuardAnswer): void {
    const key = `${answer.op} ${answer.id}`;
    this.#pending.get(key)?.resolve();
    this.#pending.delete(key);
    this.#rest();
  }

  #died(child: ChildProcess, cause: unknown): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    if (this.#state !== "open") {
      this.#settlePending(new UsageError("the guard was closed"));
      return;
    }
    // A dead guard watches nothing, so there is nothing to remove.
    for (const [key, pending] of this.#pending) {
      if (!key.startsWith("forget ")) continue;
      pending.resolve();
      this.#pending.delete(key);
    }
    this.#deaths = performance.now() - this.#startedAt > HEALTHY_AFTER_MS ? 1 : this.#deaths + 1;
    if (this.#deaths > RESTART_LIMIT) {
      this.#state = "failed";
      const failure = new ToolplaneError("internal_error", "the guard process cannot be kept running", { cause });
      this.#settlePending(failure);
      this.#onFailure(failure);
    } else if (this.#entries.size > 0) {
      this.#start();
    }
  }

  #settlePending(cause: unknown): void {
    for (const pending of this.#pending.values()) pending.reject(cause);
    this.#pending.clear();
  }

  /** Lets the event loop end unless an answer is awaited (GD6). */
  #rest(): void {
    if (this.#pending.size > 0) return;
    this.#child?.unref();
    this.#refOutput(false);
  }

  #refOutput(held: boolean): void {
    for (const stream of [this.#child?.stdin, this.#child?.stdout]) {
      // The pipes of a child are sockets, although their type does not say so.
      const socket = stream as { ref?: () => void; unref?: () => void } | null | undefined;
      if (held) socket?.ref?.();
      else socket?.unref?.();
    }
  }
}

export interface GuardOptions {
  /** Called when the guard cannot be kept running: watched processes are no longer safe. By default a process warning. */
  readonly onFailure?: (failure: ToolplaneError) => void;
}

/** A guard that starts its process with the first thing to watch. */
export const createGuard = (options: GuardOptions = {}): Guard =>
  new GuardParent(options.onFailure ?? ((failure) => process.emitWarning(failure)));

let shared: Guard | undefined;

/** The guard of this process: what `spawnGuarded` uses unless it is given another. One process needs one guard. */
export const processGuard = (): Guard => {
  shared ??= createGuard();
  return shared;
};
