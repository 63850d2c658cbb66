// The child process of a host: its start, its pipes, and the moment it is really over.
// CH1. It is started behind the guard, in a group of its own; the rest of the group ends with it.
// CH2. `onGone` is called once, after everything in its pipe has been read - or after a short while, because a grandchild may
//     hold the pipe open.
// CH3. As root it gets a user of its own, which can read neither our environment nor our files; `user: inherit` turns that off. A
//     program that this user cannot reach is refused, with what to do; it is never started as root instead.
// CH4. A process without its pipes is ended. Most often pipes break because it is exiting; then the exit is reported.

import {
  type ExitStatus,
  findUnreachable,
  type Guard,
  type GuardedProcess,
  type LentUser,
  lendUser,
  spawnGuarded,
} from "@toolplane/processes";
import { ToolplaneError, UsageError } from "@toolplane/protocol";
import type { Random } from "@toolplane/sdk";
import type { Border } from "./border.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { createHostConnection, type HostConnection } from "./host-connection.ts";
import type { HostLimits } from "./host-limits.ts";
import type { HostWords } from "./host-log.ts";
import type { Launch } from "./launch.ts";
import { createOutputBrake } from "./output-brake.ts";
import type { Timers } from "./timers.ts";

export interface ChildDeps {
  readonly name: string;
  readonly launch: Launch;
  readonly limits: HostLimits;
  readonly timers: Timers;
  readonly diagnostics: Diagnostics;
  readonly words: HostWords;
  readonly guard: Guard | undefined;
  readonly random: Random;
  readonly border: Border;
}

export interface ChildListener {
  /** A pipe broke; it will be gone soon. */
  onBroken(): void;
  /** `clean`: it exited by itself, with code 0. */
  onGone(why: string, clean: boolean): void;
}

export interface HostChild {
  readonly pid: number;
  readonly connection: HostConnection;
  /** Nothing of it is left. */
  readonly ended: Promise<void>;
  /** SIGTERM is followed by SIGKILL after the grace. */
  end(signal: "SIGTERM" | "SIGKILL"): void;
}

/** How long the last output may take, and how long a broken pipe waits for the exit that explains it. */
const LAST_WORDS_MS = 200;
/** When this process dies, the guard ends the host within two seconds, whatever grace it has otherwise. */
const GUARD_GRACE_MS = 1_000;

/** What V8 writes before it aborts. Python raises MemoryError, which is an ordinary failure of a tool. */
const HEAP_IS_FULL = "heap out of memory";

/** `said`: the last lines of its stderr. */
export const describeExit = ({ code, signal }: ExitStatus, said: readonly string[]): string => {
  if (signal === null) return `its process ended with code ${code}`;
  if (signal === "SIGABRT" && said.some((line) => line.includes(HEAP_IS_FULL)))
    return `its process ran out of memory (${signal})`;
  const hint = signal === "SIGKILL" ? " (the system does this when memory runs out)" : "";
  return `its process was ended by ${signal}${hint}`;
};

/** What a program is started with; MCP servers are started in the same way. */
export type StartDeps = Pick<ChildDeps, "name" | "launch" | "limits" | "guard" | "random">;

const checkReach = ({ name, launch: { argv, cwd, env } }: StartDeps, user: LentUser): void => {
  const path = findUnreachable(user, { argv, cwd, path: env.PATH });
  if (path === undefined) return;
  throw new ToolplaneError(
    "upstream_unavailable",
    `host ${name}: it runs under a user of its own, which cannot reach ${path}: let everybody enter the ` +
      "folders above it and read it, or write `user: inherit` for this host, which then can read all that the server can",
  );
};

const spawnAs = (user: LentUser | undefined, { launch, name, guard, limits }: StartDeps): Promise<GuardedProcess> =>
  spawnGuarded(launch.argv, {
    label: `host ${name}`,
    env: user === undefined ? launch.env : { ...launch.env, HOME: user.home, TMPDIR: user.home },
    cwd: launch.cwd,
    stdio: ["pipe", "pipe", "pipe"],
    graceMs: Math.min(limits.graceMs, GUARD_GRACE_MS),
    ...(guard === undefined ? {} : { guard }),
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid, soleUser: true, removeDir: user.home }),
  });

export const startProgram = async (deps: StartDeps): Promise<GuardedProcess> => {
  const user = deps.launch.ownUser ? lendUser(deps.random) : undefined;
  if (user === undefined) return spawnAs(undefined, deps);
  try {
    checkReach(deps, user);
    const guarded = await spawnAs(user, deps);
    void guarded.ended.then(user.takeBack).catch(() => undefined);
    return guarded;
  } catch (error) {
    await user.takeBack();
    throw error;
  }
};

export const spawnHostChild = async (deps: ChildDeps, listener: ChildListener): Promise<HostChild> => {
  const { name, limits, timers, diagnostics, words } = deps;
  const guarded = await startProgram(deps);
  const { stdin, stdout, stderr } = guarded.child;
  if (stdin === null || stdout === null || stderr === null) throw new UsageError(`host ${name} has no pipes`);
  let brokenBy: string | undefined;

  const end = (signal: "SIGTERM" | "SIGKILL"): void => {
    void guarded.end({ signal, graceMs: signal === "SIGKILL" ? 0 : limits.graceMs });
  };
  const broke = (what: string): void => {
    listener.onBroken();
    const callOff = timers.after(LAST_WORDS_MS, () => {
      brokenBy = what;
      end("SIGTERM");
    });
    void guarded.exited.then(callOff);
  };
  // The connection reports a line that was useless.
  let wasted = 0;
  const counted: Diagnostics = {
    report: (...what) => {
      wasted += 1;
      diagnostics.report(...what);
    },
  };
  const connection = createHostConnection({
    stdin,
    lineBytes: limits.lineBytes,
    diagnostics: counted,
    border: deps.border,
    pid: guarded.pid,
    onBroken: () => broke("it closed its stdin"),
    onBusy: (busy) => (busy ? brake.hold() : brake.letGo()),
  });
  const outputOver = new Promise<void>((resolve) => {
    stdout.once("close", () =>
      connection.end(() => {
        broke("it closed its stdout");
        resolve();
      }),
    );
  });
  stdin.on("error", () => undefined);
  stdout.on("error", () => undefined);
  const brake = createOutputBrake({
    stream: stdout,
    timers,
    take: connection.push.bind(connection),
    wasted: () => wasted,
  });
  stdout.on("data", (chunk: Buffer) => brake.push(chunk));
  words.follow(stderr, guarded.pid);

  const watchEnd = async (): Promise<void> => {
    const status = await guarded.exited;
    brake.release();
    await new Promise<void>((resolve) => {
      const callOff = timers.after(LAST_WORDS_MS, resolve);
      void outputOver.then(callOff).then(resolve);
    });
    listener.onGone(
      brokenBy ?? describeExit(status, words.last(guarded.pid)),
      brokenBy === undefined && status.code === 0,
    );
    await guarded.ended;
    // A grandchild that held our pipes open has been ended by now.
    for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
  };
  return { pid: guarded.pid, connection, ended: watchEnd(), end };
};
