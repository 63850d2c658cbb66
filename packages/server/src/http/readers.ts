// The readers of streams: how many there may be, and what happens to a reader that does not read.
//   RD1. The open streams of one token are limited, and those of the process.
//   RD2. Written data waits for its reader in bounded memory. A reader that takes nothing for a while is told why its stream
//       ends, and is cut off soon after, whether it has read that or not.

import { inTime, LATE, systemClock } from "@toolplane/bus/ports";
import { ToolplaneError } from "@toolplane/protocol";
import type { Context } from "hono";

export interface OpenLimits {
  readonly perToken: number;
  readonly inAll: number;
}

export interface ReaderLimits extends OpenLimits {
  /** How long a reader may leave written data untaken. */
  readonly slowMs: number;
  /** How long it may leave the last message untaken. */
  readonly cutMs: number;
}

const READER_LIMITS: ReaderLimits = { perToken: 64, inAll: 1_024, slowMs: 30_000, cutMs: 10_000 };

/** Requests that wait hold their connections. These bounds leave connections for other requests. */
const WAIT_LIMITS: OpenLimits = { perToken: 2_048, inAll: 12_288 };

/** Bodies that come piece by piece: some hundreds of uploads at once for one token, and three of four connections for the others. */
const ARRIVING_LIMITS: OpenLimits = { perToken: 256, inAll: 4_096 };

export interface Places {
  /** Throws `rate_limited` when there are too many. */
  open(tokenId: string): Disposable;
  /** How many are open now. */
  count(): number;
}

export interface Readers extends Places {
  readonly limits: ReaderLimits;
}

const createPlaces = (limits: OpenLimits, what: string, detail: string): Places => {
  const byToken = new Map<string, number>();
  let inAll = 0;
  const tooMany = (whose: string, limit: number): ToolplaneError =>
    new ToolplaneError("rate_limited", `${whose} ${limit} open ${what}; close one before you open another`, {
      detail: { [detail]: limit },
    });
  return {
    count: () => inAll,
    open(tokenId) {
      const own = byToken.get(tokenId) ?? 0;
      if (own >= limits.perToken) throw tooMany("this token has", limits.perToken);
      if (inAll >= limits.inAll) throw tooMany("this server has", limits.inAll);
      byToken.set(tokenId, own + 1);
      inAll += 1;
      let open = true;
      return {
        [Symbol.dispose]: () => {
          if (!open) return;
          open = false;
          inAll -= 1;
          const left = (byToken.get(tokenId) ?? 1) - 1;
          if (left > 0) byToken.set(tokenId, left);
          else byToken.delete(tokenId);
        },
      };
    },
  };
};

export const createReaders = (limits: ReaderLimits = READER_LIMITS): Readers => ({
  limits,
  ...createPlaces(limits, "streams", "max_streams"),
});

export const createWaits = (limits: OpenLimits = WAIT_LIMITS): Places =>
  createPlaces(limits, "requests that wait", "max_waiting");

export const createArriving = (limits: OpenLimits = ARRIVING_LIMITS): Places =>
  createPlaces(limits, "requests whose bodies have not come", "max_arriving");

interface Writable {
  write(said: string | Uint8Array): Promise<unknown>;
}

/** False when the reader has left the data untaken for too long. */
export const writeWithin = async (stream: Writable, said: string | Uint8Array, ms: number): Promise<boolean> =>
  (await inTime(systemClock, ms, stream.write(said))) !== LATE;

interface NodeEnv {
  readonly outgoing?: { readonly writableFinished: boolean; destroy(): void } | undefined;
}

/** For a reader that does not take its data: the connection is closed with everything that waits in it. */
export const cutReader = (context: Context): void => ((context.env ?? {}) as NodeEnv).outgoing?.destroy();

/** Writes the last message of a stream without waiting: the connection is closed when it was read, or soon after. */
export const endStream = (context: Context, stream: Writable, why: ToolplaneError, cutMs: number): void => {
  void stream.write(`event: end\ndata: ${JSON.stringify({ error: why.toWire() })}\n\n`);
  const { outgoing } = (context.env ?? {}) as NodeEnv;
  if (outgoing === undefined) return;
  setTimeout(() => {
    if (!outgoing.writableFinished) outgoing.destroy();
  }, cutMs).unref();
};
