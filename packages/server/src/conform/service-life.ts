// The life of the service under test: it is started, may end by itself, and is started again when it ended or stopped answering.
// A service that the user runs is only watched.

import type { Watch } from "./watch.ts";

export interface LaunchedService {
  /** Resolves with how it ended, in words that follow "the service": "ended with code 1". */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** Starts the service; it finds its server, token and project by itself (the environment, usually). */
export type LaunchService = () => Promise<LaunchedService>;

export interface ServiceLife {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** False when it is not ours to start. */
  restart(): Promise<boolean>;
  /** How it ended, if it did and was not started again. */
  ended(): string | undefined;
  /** Waits end, and nothing is started again. */
  giveUp(): void;
  isGivenUp(): boolean;
}

export const createServiceLife = (launch: LaunchService | undefined, watch: Watch): ServiceLife => {
  let service: LaunchedService | undefined;
  let ending: string | undefined;
  let givenUp = false;

  const start = async (): Promise<void> => {
    if (launch === undefined || givenUp) return;
    const started = await launch();
    service = started;
    ending = undefined;
    void started.exited.then((reason) => {
      // The end of a process that we replaced or stopped is not reported.
      if (service !== started) return;
      ending = reason;
      watch.changed();
    });
  };

  const stop = async (): Promise<void> => {
    const running = service;
    service = undefined;
    await running?.stop();
  };

  return {
    start,
    stop,
    async restart() {
      if (launch === undefined || givenUp) return false;
      await stop();
      await start();
      return true;
    },
    ended: () => (givenUp ? "was given up" : ending),
    giveUp() {
      givenUp = true;
      watch.changed();
    },
    isGivenUp: () => givenUp,
  };
};
