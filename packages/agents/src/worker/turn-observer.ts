// Observers of turns: told by the worker of this process, for measuring only. What an observer does can neither fail nor delay a
// turn.

import type { Work } from "@toolplane/engine";

export interface ModelCall {
  readonly stepId: string;
  readonly beganAt: number;
  readonly endedAt: number;
  /** The model that answered, where it says so. */
  readonly model?: string | undefined;
  /** The code of its failure. */
  readonly error?: string | undefined;
}

export interface StepRun {
  readonly stepId: string;
  readonly beganAt: number;
  readonly endedAt: number;
}

export interface TurnDone {
  readonly status: string;
  readonly errorCode?: string | undefined;
  readonly at: number;
}

export interface TurnObserver {
  /** Work was taken: a turn that begins, or one that goes on with the results it waited for. */
  taken(work: Work, at: number): void;
  asked(work: Work, call: ModelCall): void;
  stepped(work: Work, step: StepRun): void;
  ended(work: Work, done: TurnDone): void;
}

export const nobodyWatchesTurns: TurnObserver = {
  taken: () => {},
  asked: () => {},
  stepped: () => {},
  ended: () => {},
};

/** The same observer, whose errors stay its own. */
export const harmless = (observer: TurnObserver): TurnObserver => {
  const quietly = (tell: () => void): void => {
    try {
      tell();
    } catch {
      // An observer only measures.
    }
  };
  return {
    taken: (work, at) => quietly(() => observer.taken(work, at)),
    asked: (work, call) => quietly(() => observer.asked(work, call)),
    stepped: (work, step) => quietly(() => observer.stepped(work, step)),
    ended: (work, done) => quietly(() => observer.ended(work, done)),
  };
};
