// The requests over NATS that are worked on at once: bounded by number and by characters. One project takes at most half of the places,
// so its flood leaves the other half to the rest; and one operation of a project takes at most a quarter, so a flood of heartbeats keeps no
// result of the same service waiting.

export interface InHandLimits {
  readonly requests: number;
  readonly characters: number;
}

interface Taken {
  requests: number;
  characters: number;
}

export interface InHand {
  /** Whether a further request of this kind may come in. */
  admits(projectId: string, operation: string): boolean;
  /** Until it is disposed of, the request counts. */
  take(projectId: string, operation: string, characters: number): Disposable;
  /** At least this share of all places is taken. */
  fills(share: number): boolean;
}

const OF_PROJECT = 0.5;
const OF_OPERATION = 0.25;

const NOTHING: Readonly<Taken> = { requests: 0, characters: 0 };

const ALL = "";

/** Whose places a request takes, and which share of them there is. */
const sharesOf = (projectId: string, operation: string): readonly (readonly [string, number])[] => [
  [ALL, 1],
  [projectId, OF_PROJECT],
  [`${projectId} ${operation}`, OF_OPERATION],
];

export const createInHand = (limits: InHandLimits): InHand => {
  const takenOf = new Map<string, Taken>();

  const isAt = (key: string, share: number): boolean => {
    const { requests, characters } = takenOf.get(key) ?? NOTHING;
    return requests >= limits.requests * share || characters >= limits.characters * share;
  };

  const add = (key: string, requests: number, characters: number): void => {
    const taken = takenOf.get(key) ?? { ...NOTHING };
    taken.requests += requests;
    taken.characters += characters;
    if (taken.requests === 0) takenOf.delete(key);
    else takenOf.set(key, taken);
  };

  return {
    admits: (projectId, operation) => !sharesOf(projectId, operation).some(([key, share]) => isAt(key, share)),
    take(projectId, operation, characters) {
      const keys = sharesOf(projectId, operation).map(([key]) => key);
      for (const key of keys) add(key, 1, characters);
      let isTaken = true;
      return {
        [Symbol.dispose]() {
          if (isTaken) for (const key of keys) add(key, -1, -characters);
          isTaken = false;
        },
      };
    },
    fills: (share) => isAt(ALL, share),
  };
};
