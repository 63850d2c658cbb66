// The gateway over NATS. A service whose tools may all run twice waits for calls at the engine's gateway (stand-in-line.ts). For
// others commands are fetched from the durable that the engine keeps for the target, and leased one by one. Items about calls travel
// together, by exchange; every other operation is a request to the engine's gateway. It keeps the same rules G1-G5 as over HTTP.

import type { NatsLink } from "@toolplane/bus/nats";
import type { TraceIds } from "@toolplane/protocol";
import type { ClaimedCommand, ClaimRequest, ToolGateway } from "../gateway/gateway.ts";
import { createWireGateway } from "../gateway/wire-gateway.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import { createAskGateway } from "./ask-gateway.ts";
import { createCommandFetch } from "./fetch-commands.ts";
import { leaseCommands } from "./lease-commands.ts";
import { createLine } from "./stand-in-line.ts";
import { wakeOnReconnect } from "./wake-on-reconnect.ts";

export interface NatsToolGatewayOptions {
  /** The connection. The caller opened it, so the caller closes it. */
  readonly link: Pick<NatsLink, "connected" | "maxPayload" | "onReconnect" | "request" | "commands">;
  readonly projectId: string;
  /** Who speaks: `tool.<target>`. The NATS user must be allowed to. */
  readonly actor: string;
  /** Who runs the calls, as people read it in `why`: a machine and a process. */
  readonly holder?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: TraceIds;
  readonly log: Log;
}

const HEARTBEAT_TIMEOUT_MS = 3_000;

/** Room for subject and headers, so that an exchange stays below the server's limit of a message. */
const EXCHANGE_SHARE = 0.5;

export const createNatsToolGateway = (options: NatsToolGatewayOptions): ToolGateway => {
  const { link, projectId, actor, clock, random, ids, log } = options;
  const ask = createAskGateway({ link, projectId, actor, clock });
  const waits = wakeOnReconnect(clock, link);
  const fetchCommands = createCommandFetch({ link, ask, clock: waits, holder: options.holder });

  const wire = createWireGateway({
    ask,
    projectId,
    clock: waits,
    random,
    ids,
    log,
    heartbeatMs: HEARTBEAT_TIMEOUT_MS,
    maxChars: () => (link.maxPayload?.() ?? Number.POSITIVE_INFINITY) * EXCHANGE_SHARE,
  });

  const release = (toolCallId: string, leaseId: string, until: number): Promise<void> =>
    wire.release({ toolCallId, leaseId }, { until: () => until });
  const standInLine = createLine({ link, ask, release, holder: options.holder, clock, log });

  const claim = async (request: ClaimRequest, signal?: AbortSignal): Promise<readonly ClaimedCommand[]> => {
    const { target, max, waitMs, definitions } = request;
    if (request.retrySafe === true) {
      if (!link.connected()) await waits.sleep(waitMs, signal);
      const commands = signal?.aborted === true ? [] : await standInLine(request, signal);
      if (commands !== undefined) return commands;
    }
    const end = clock.now() + waitMs;
    const left = (): number => Math.max(end - clock.now(), 0);
    // Commands that are not needed, or that belong to another project, do not count: the claim goes on waiting.
    for (;;) {
      const deliveries = await fetchCommands(target, { max, waitMs: left(), signal, definitions });
      if (signal?.aborted) {
        await Promise.allSettled(deliveries.map((delivery) => delivery.nak()));
        return [];
      }
      const { commands, trouble } = await leaseCommands(deliveries, {
        ask,
        release,
        projectId,
        target,
        ids,
        holder: options.holder,
        definitions,
        clock: waits,
        random,
        ticket: () => ids.traceId(),
        log,
      });
      if (commands.length === 0 && trouble !== undefined) throw trouble;
      if (commands.length > 0 || left() === 0) return commands;
    }
  };

  return {
    ...wire,
    claim,
    // A service sees the cards of its own calls and no others; a card without a call is none of them.
    readCard: async (ref, patience) => (ref.toolCallId === undefined ? undefined : wire.readCard(ref, patience)),
  };
};
