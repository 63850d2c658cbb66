// One process of the plane under chaos, with a supervisor: whoever ends is started again, however it ended. Ends nobody
// asked for are counted: a process that falls by itself is a fault even if nothing was lost.

import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { type GuardedProcess, spawnGuarded } from "@toolplane/processes";

export interface MemberOptions {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The line on stdout that says that it works. */
  readonly readyLine: string;
  /** Where its stderr goes. */
  readonly log: string;
}

export interface Member {
  readonly name: string;
  isReady(): boolean;
  /** Ends after it worked that nobody asked for. */
  falls(): number;
  kills(): number;
  /** SIGKILL; it comes back by itself. */
  kill(): Promise<void>;
  /** SIGTERM, for good; the exit code. */
  stop(): Promise<number | null>;
}

const PAUSE_MS = 150;
/** Far more than a drain takes; a process that does not end fails the run. A busy machine is not a failure. */
const GRACE_MS = 180_000;

export const startMember = ({ name, argv, env, readyLine, log }: MemberOptions): Member => {
  let running: GuardedProcess | undefined;
  let ready = false;
  let killed = false;
  let stopping = false;
  let falls = 0;
  let kills = 0;
  let lastCode: number | null = null;

  const liveOnce = async (): Promise<void> => {
    const stderr = openSync(log, "a");
    running = await spawnGuarded(argv, { label: name, env, stdio: ["ignore", "pipe", stderr] });
    closeSync(stderr);
    killed = false;
    const { stdout } = running.child;
    if (stdout !== null)
      createInterface({ input: stdout }).on("line", (line) => {
        ready ||= line.startsWith(readyLine);
      });
    const { code } = await running.ended;
    lastCode = code;
    if (ready && !killed && !stopping) falls += 1;
    ready = false;
  };
  const life = (async () => {
    while (!stopping) {
      await liveOnce();
      if (!stopping) await delay(PAUSE_MS);
    }
  })();

  return {
    name,
    isReady: () => ready,
    falls: () => falls,
    kills: () => kills,
    async kill() {
      killed = true;
      kills += 1;
      ready = false;
      running?.kill("SIGKILL");
      await running?.exited;
    },
    async stop() {
      stopping = true;
      await running?.end({ signal: "SIGTERM", graceMs: GRACE_MS });
      await life;
      return lastCode;
    },
  };
};
