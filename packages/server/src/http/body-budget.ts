// Who holds how much memory with the bodies of its requests. A body is counted before it is read, and until its request is
// answered: what was parsed from it lives that long.
//   BB1. One token holds at most its share, whatever it sends at once.
//   BB2. All bodies together are bounded. Small ones always pass that bound, so that a few large ones do not shut out
//       heartbeats; how many small ones there can be is bounded by the connections.

import { ToolplaneError } from "@toolplane/protocol";

export interface BodyLimits {
  readonly perToken: number;
  readonly inAll: number;
}

/** Two of the largest results at once; a service that has more of them waits its turn. */
const BODY_LIMITS: BodyLimits = { perToken: 128 * 1024 * 1024, inAll: 384 * 1024 * 1024 };

const SMALL_BYTES = 64 * 1024;

/** The bytes of one request. */
export interface BodyShare extends Disposable {
  /** `rate_limited` when there is no room for so many more. */
  take(bytes: number): void;
  /** Counts the bytes until this is disposed too: for an answer that goes on after its request was handled. */
  hold(): Disposable;
}

export interface BodyBudget {
  open(tokenId: string): BodyShare;
  /** For those who look. */
  held(): number;
}

const refuse = (whose: string, limit: number): ToolplaneError =>
  new ToolplaneError(
    "rate_limited",
    `${whose} hold more than ${limit} bytes at once; wait for answers, then send this again`,
    { detail: { max_bytes: limit } },
  );

export const createBodyBudget = (limits: BodyLimits = BODY_LIMITS): BodyBudget => {
  const byToken = new Map<string, number>();
  let inAll = 0;

  const change = (tokenId: string, bytes: number): void => {
    inAll += bytes;
    const left = (byToken.get(tokenId) ?? 0) + bytes;
    if (left > 0) byToken.set(tokenId, left);
    else byToken.delete(tokenId);
  };

  return {
    open(tokenId) {
      let taken = 0;
      let holders = 1;
      const leave = (): void => {
        holders -= 1;
        if (holders > 0) return;
        change(tokenId, -taken);
        taken = 0;
      };
      const holder = (): Disposable => {
        let held = true;
        return {
          [Symbol.dispose]: () => {
            if (held) leave();
            held = false;
          },
        };
      };
      return {
        take(bytes) {
          if ((byToken.get(tokenId) ?? 0) + bytes > limits.perToken)
            throw refuse("the requests of this token", limits.perToken);
          if (taken + bytes > SMALL_BYTES && inAll + bytes > limits.inAll)
            throw refuse("the requests of all tokens", limits.inAll);
          taken += bytes;
          change(tokenId, bytes);
        },
        hold: () => {
          holders += 1;
          return holder();
        },
        ...holder(),
      };
    },
    held: () => inAll,
  };
};

// Beside the request instead of through every function that reads one: what reads bodies stays what it is.
const shares = new WeakMap<Request, BodyShare>();

export const shareBody = (request: Request, share: BodyShare): void => void shares.set(request, share);

/** A request nobody counts is bounded by its route alone. */
export const shareOf = (request: Request): Pick<BodyShare, "take"> | undefined => shares.get(request);
