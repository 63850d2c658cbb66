// Waiting for calls at the plane's gateway: a call that is made where this service waits is leased to it at birth and comes with the answer,
// without a command on the bus. Only for services whose tools may all run twice: an answer can be lost on NATS without a sign, and a
// call in it runs again when its short lease is over.
//   NL1. A question waits a few seconds at the plane, and is asked again. When this process is killed, the plane hands it calls for
//        no longer than that.
//   NL2. A service that stops says so, and an answer that comes after it stopped waiting is given back.
//   NL3. Where the plane does not hand out calls this way, commands are fetched, and the plane is asked again some time later.

import type { NatsLink } from "@toolplane/bus/nats";
import { HEADERS, isToolplaneError, understandError } from "@toolplane/protocol";
import type { ClaimedCommand, ClaimRequest } from "../gateway/gateway.ts";
import { readClaim } from "../gateway/wire.ts";
import type { AskGateway } from "../gateway/wire-gateway.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { onAbort } from "../runner/run-signal.ts";
import { createAttach } from "./attach.ts";

export interface LineDeps {
  readonly link: Pick<NatsLink, "onReconnect">;
  readonly ask: AskGateway;
  readonly release: (toolCallId: string, leaseId: string, until: number) => Promise<void>;
  readonly holder: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Undefined: the plane hands out nothing here, fetch commands. */
export type StandInLine = (
  request: ClaimRequest,
  signal: AbortSignal | undefined,
) => Promise<readonly ClaimedCommand[] | undefined>;

/** As long as the plane waits at most. */
const WAIT_MS = 5_000;
/** Added to the wait for the way there and back. When the process that took the question has died, another one is asked after this. */
const MARGIN_MS = 1_500;
/** For the word that this service waits no longer. */
const LEAVE_MS = 1_000;
/** The least share of its time that a question is kept open. */
const KEPT_OPEN = 0.5;
/** A plane that does not know how may be replaced by one that does. */
const FETCH_FOR_MS = 60_000;

/** The plane does not see whether its answer arrived (NL2), so the lease is short until a heartbeat confirms it. */
const underShortLease = ({ lease, ...command }: ClaimedCommand): ClaimedCommand =>
  lease === undefined ? command : { ...command, lease: { ...lease, isShort: true } };

export const createLine = ({ link, ask, release, holder, clock, log }: LineDeps): StandInLine => {
  const { attach } = createAttach({ link, ask, clock, waits: true });
  let fetchUntil = Number.NEGATIVE_INFINITY;

  const giveBack = async ({ headers, lease }: ClaimedCommand): Promise<void> => {
    const toolCallId = headers[HEADERS.toolCallId];
    if (lease === undefined || toolCallId === undefined) return;
    await release(toolCallId, lease.id, lease.expiresAt).catch((thrown: unknown) => {
      log.warn("a call could not be given back; its lease will lapse", { reason: understandError(thrown).message });
    });
  };

  const askOnce = async (
    { max, definitions }: ClaimRequest,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly ClaimedCommand[]> => {
    const asking = ask({
      operation: "exchange",
      body: {
        max,
        wait_seconds: waitMs / 1_000,
        ...(holder === undefined ? {} : { holder }),
        ...(definitions === undefined ? {} : { definitions }),
      },
      timeoutMs: waitMs + MARGIN_MS,
    })
      .then(readClaim)
      .then((commands) => commands.map(underShortLease));
    if (signal === undefined) return asking;
    const { aborted, stop } = onAbort(signal);
    const gone = aborted.then(() => undefined);
    const came = await Promise.race([asking, gone]).finally(stop);
    if (came !== undefined) return came;
    // Without it the plane would hand calls to this service for some seconds more. An older plane does not know it.
    if (holder !== undefined)
      await ask({ operation: "exchange", body: { leaves: true, holder }, timeoutMs: LEAVE_MS }).catch(() => undefined);
    void asking.then((late) => Promise.all(late.map(giveBack))).catch(() => undefined);
    return [];
  };

  return async (request, signal) => {
    if (clock.now() < fetchUntil) return undefined;
    const end = clock.now() + request.waitMs;
    for (;;) {
      try {
        await attach(request.target, { signal });
        const askedAt = clock.now();
        const waitMs = Math.min(Math.max(end - askedAt, 0), WAIT_MS);
        const commands = await askOnce(request, waitMs, signal);
        // A plane that answers "nothing" at once does not keep the question open: the service makes its pauses.
        const isEarly = clock.now() - askedAt < waitMs * KEPT_OPEN;
        if (commands.length > 0 || clock.now() >= end || isEarly || signal?.aborted === true) return commands;
      } catch (thrown) {
        if (!isToolplaneError(thrown) || thrown.code !== "bad_request") throw thrown;
        fetchUntil = clock.now() + FETCH_FOR_MS;
        return undefined;
      }
    }
  };
};
