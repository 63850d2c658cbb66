// Starts the program of a crash run as a guarded process and tells how it ended.

import { createInterface } from "node:readline";
import { type ExitStatus, type GuardedProcess, spawnGuarded } from "@toolplane/processes";
import { programArgv } from "../program-argv.ts";
import { programEnv } from "../program-env.ts";
import type { ChildConfig } from "./engine-child.ts";

export interface EngineChild extends AsyncDisposable {
  readonly pid: number;
  readonly exited: Promise<ExitStatus>;
  /** True when it was reached, false when the process ended before. */
  readonly ready: Promise<boolean>;
  readonly done: Promise<boolean>;
  /** Lets a process go on that has stopped itself. */
  wake(): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<ExitStatus>;
  /** Lets it finish what it holds and leave. */
  leave(): Promise<ExitStatus>;
}

const PROGRAM = new URL(`./engine-child.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

const watchWords = (running: GuardedProcess): ((word: string) => Promise<boolean>) => {
  const heard = new Set<string>();
  const waiting = new Map<string, () => void>();
  const { stdout } = running.child;
  if (stdout !== null)
    createInterface({ input: stdout }).on("line", (line) => {
      for (const word of Object.keys(JSON.parse(line) as object)) {
        heard.add(word);
        waiting.get(word)?.();
      }
    });
  return (word) =>
    Promise.race([
      new Promise<boolean>((resolve) => {
        if (heard.has(word)) resolve(true);
        else waiting.set(word, () => resolve(true));
      }),
      running.exited.then(() => heard.has(word)),
    ]);
};

export const startEngineChild = async (config: ChildConfig): Promise<EngineChild> => {
  const argv = [...programArgv(PROGRAM), JSON.stringify(config)];
  const running = await spawnGuarded(argv, {
    label: `engine ${config.name}`,
    env: programEnv(),
    stdio: ["pipe", "pipe", "inherit"],
  });
  // The program may be killed while its input is being closed.
  running.child.stdin?.on("error", () => undefined);
  const word = watchWords(running);
  const leave = (): Promise<ExitStatus> => {
    running.child.stdin?.end();
    return running.ended;
  };
  return {
    pid: running.pid,
    exited: running.exited,
    ready: word("ready"),
    done: word("done"),
    wake: () => {
      running.kill("SIGCONT");
    },
    kill: () => running.end({ signal: "SIGKILL" }),
    leave,
    async [Symbol.asyncDispose]() {
      await running.end({ signal: "SIGKILL" });
    },
  };
};
