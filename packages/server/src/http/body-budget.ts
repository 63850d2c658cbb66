// How much memory each token uses with the bodies of its requests and with answers that it has not read yet. A body counts from
// before it is read until its request is answered, because the parsed value lives that long.
//   BB1. One token holds at most its share, whatever it sends at once.
//   BB2. All bodies together are bounded. Small ones always pass that bound, so that a few large ones do not shut out
//       heartbeats; how many small ones there can be is bounded by the connections.
//   BB3. A body that has not come as a whole holds a connection: one token has few of them, and so have all. A body that came with its
//       headers, as those of honest senders do, is not counted.

import { setImmediate as breathe } from "node:timers/promises";
import { ToolplaneError } from "@toolplane/protocol";
import type { Context } from "hono";
import { createArriving, type OpenLimits } from "./readers.ts";

export interface BodyLimits {
  readonly perToken: number;
  readonly inAll: number;
  /** How many bodies may be on their way at once. */
  readonly arriving?: OpenLimits | undefined;
}

/** Eight bodies of the largest size (16 MiB) at once; a token with more of them gets `rate_limited`. */
const BODY_LIMITS: BodyLimits = { perToken: 128 * 1024 * 1024, inAll: 384 * 1024 * 1024 };

/** Long answers whose readers have not taken them: some pages of a list, or four of the largest. */
export const ANSWER_LIMITS: BodyLimits = { perToken: 64 * 1024 * 1024, inAll: 384 * 1024 * 1024 };

const SMALL_BYTES = 64 * 1024;

/** The bytes of one request. */
export interface BodyShare extends Disposable {
  /** Throws `rate_limited` when there is no room for so many more bytes. */
  take(bytes: number): void;
  /** Counts a body that is on its way until this is disposed; undefined: it is here. Throws `rate_limited` when there are too many. */
  arrive(): Promise<Disposable | undefined>;
  /** Keeps the bytes counted until this is disposed too: for an answer that continues after its request was handled. */
  hold(): Disposable;
}

export interface BodyBudget {
  /** `isHere`: whether the whole body has come; without it no body has. */
  open(tokenId: string, isHere?: () => boolean): BodyShare;
  /** Throws `rate_limited` when there is no room for so many more bytes. A token that holds nothing always has room for its own. */
  checkRoom(tokenId: string, bytes: number): void;
  /** For those who look. */
  held(): number;
}

export type BudgetOf = "requests" | "answers";

const ADVICE: Readonly<Record<BudgetOf, string>> = {
  requests: "wait for answers, then send this again",
  answers: "read them, then ask again",
};

export const createBodyBudget = (limits: BodyLimits = BODY_LIMITS, of: BudgetOf = "requests"): BodyBudget => {
  const refuse = (whose: string, limit: number): ToolplaneError =>
    new ToolplaneError("rate_limited", `the ${of} of ${whose} hold more than ${limit} bytes at once; ${ADVICE[of]}`, {
      detail: { max_bytes: limit },
    });
  const byToken = new Map<string, number>();
  const arriving = createArriving(limits.arriving);
  let inAll = 0;

  const change = (tokenId: string, bytes: number): void => {
    inAll += bytes;
    const left = (byToken.get(tokenId) ?? 0) + bytes;
    if (left > 0) byToken.set(tokenId, left);
    else byToken.delete(tokenId);
  };

  const checkRoom = (tokenId: string, bytes: number): void => {
    const held = byToken.get(tokenId) ?? 0;
    if (held + bytes > limits.perToken) throw refuse("this token", limits.perToken);
    if (held > 0 && inAll + bytes > limits.inAll) throw refuse("all tokens", limits.inAll);
  };

  return {
    checkRoom,
    open(tokenId, isHere) {
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
          if ((byToken.get(tokenId) ?? 0) + bytes > limits.perToken) throw refuse("this token", limits.perToken);
          if (taken + bytes > SMALL_BYTES && inAll + bytes > limits.inAll) throw refuse("all tokens", limits.inAll);
          taken += bytes;
          change(tokenId, bytes);
        },
        async arrive() {
          if (isHere?.() === true) return undefined;
          try {
            return arriving.open(tokenId);
          } catch (error) {
            // Node's parser may be between the headers and a body that came with them.
            await breathe();
            if (isHere?.() === true) return undefined;
            throw error;
          }
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

// Kept in a map beside the request, so that functions that read bodies need no further parameter.
const shares = new WeakMap<Request, BodyShare>();

export const shareBody = (request: Request, share: BodyShare): void => void shares.set(request, share);

/** A request without a share is bounded by its route alone. */
export const shareOf = (request: Request): Pick<BodyShare, "take" | "arrive"> | undefined => shares.get(request);

interface NodeEnv {
  readonly incoming?: { readonly complete: boolean } | undefined;
}

/** Node's parser has seen the end of the request. */
export const isHere = (context: Context): boolean => ((context.env ?? {}) as NodeEnv).incoming?.complete === true;
