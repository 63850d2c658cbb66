// The gateway over NATS. Commands are fetched from the durable that the engine keeps for the target, and leased one by one. Items
// about calls travel together, by exchange; every other operation is a request to the engine's gateway. It keeps the same rules
// G1-G5 as over HTTP.

import type { NatsLink } from "@toolplane/bus/nats";
import { egress, HEADERS, type HeaderMap, isToolplaneError, ToolplaneError, type TraceIds } from "@toolplane/protocol";
import { createExchange, type Said, sayPatiently } from "../gateway/exchange.ts";
import type { ClaimedCommand, ClaimRequest, Patience, ToolGateway } from "../gateway/gateway.ts";
import { createPartPipe } from "../gateway/part-pipe.ts";
import { withPatience } from "../gateway/patience.ts";
import {
  type Answer,
  leaseHeader,
  partsBody,
  readBeat,
  readRegistered,
  readRegistration,
  readSettled,
  serviceResultBody,
} from "../gateway/wire.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import { createAskGateway, type GatewayQuestion } from "./ask-gateway.ts";
import { createCommandFetch } from "./fetch-commands.ts";
import { leaseCommands } from "./lease-commands.ts";
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

/** A heartbeat that takes longer is given up: the next one is sent instead. */
const HEARTBEAT_TIMEOUT_MS = 3_000;

/** Room for subject and headers, so that an exchange stays below the server's limit of a message. */
const EXCHANGE_SHARE = 0.5;
/** Long, because a result may wait for a busy database; a lost answer costs one repetition. */
const EXCHANGE_TIMEOUT_MS = 5_000;

const done = (): void => {};

const aboutCall = (toolCallId: string): HeaderMap => ({ [HEADERS.toolCallId]: toolCallId });

const unlessMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isToolplaneError(error) && error.code === "not_found") return undefined;
    throw error;
  }
};

export const createNatsToolGateway = (options: NatsToolGatewayOptions): ToolGateway => {
  const { link, projectId, actor, clock, random, ids, log } = options;
  const ask = createAskGateway({ link, projectId, actor, clock });
  const waits = wakeOnReconnect(clock, link);
  const fetchCommands = createCommandFetch({ link, ask, clock: waits });

  /** An answer that cannot be read counts as a failed try. */
  const insist = <T>(question: GatewayQuestion, patience: Patience = {}, read: (answer: Answer) => T): Promise<T> =>
    withPatience({ clock: waits, random }, patience, async () =>
      read(await ask({ ...question, signal: patience.signal })),
    );

  const exchange = createExchange({
    clock: waits,
    maxChars: () => (link.maxPayload?.() ?? Number.POSITIVE_INFINITY) * EXCHANGE_SHARE,
    send: (text, signal) => ask({ operation: "exchange", text, signal, timeoutMs: EXCHANGE_TIMEOUT_MS }),
  });

  /** Sent together with other items; a lone item is an operation of its own. */
  const about = <T>(
    operation: "settle" | "heartbeat" | "release" | "parts",
    said: Omit<Said<T>, "alone">,
    patience: Patience = {},
  ): Promise<T> => {
    const { traceparent, body, toolCallId, timeoutMs } = said;
    const headers = {
      ...aboutCall(toolCallId),
      ...(traceparent === undefined ? {} : { [HEADERS.traceparent]: traceparent }),
    };
    const { signal } = patience;
    const alone = async (): Promise<T> => said.read(await ask({ operation, headers, body, timeoutMs, signal }));
    return sayPatiently({ clock: waits, random }, exchange, { ...said, alone, signal }, patience);
  };

  const release = (toolCallId: string, leaseId: string, patience?: Patience): Promise<void> =>
    about("release", { kind: "releases", toolCallId, body: { lease: leaseId }, read: done }, patience);

  const claim = async (
    { target, max, waitMs }: ClaimRequest,
    signal?: AbortSignal,
  ): Promise<readonly ClaimedCommand[]> => {
    const end = clock.now() + waitMs;
    const left = (): number => Math.max(end - clock.now(), 0);
    // Commands that are not needed, or that belong to another project, do not count: the claim goes on waiting.
    for (;;) {
      const deliveries = await fetchCommands(target, { max, waitMs: left(), signal });
      if (signal?.aborted) {
        await Promise.allSettled(deliveries.map((delivery) => delivery.nak()));
        return [];
      }
      const { commands, trouble } = await leaseCommands(deliveries, {
        ask,
        release: (toolCallId, leaseId, until) => release(toolCallId, leaseId, { until: () => until }),
        projectId,
        target,
        ids,
        holder: options.holder,
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
    projectId,
    claim,
    release: ({ toolCallId, leaseId }, patience) => release(toolCallId, leaseId, patience),

    sendParts: createPartPipe(async (call, parts) => {
      const body = partsBody(call, parts);
      await about("parts", { kind: "parts", toolCallId: call.toolCallId, body, read: done });
    }, log),

    async readCard({ cardId, toolCallId }, patience) {
      // A service may read only the cards of its own calls, so a card without a call cannot be read.
      if (toolCallId === undefined) return undefined;
      const question = { operation: "get_card", headers: aboutCall(toolCallId), body: { card_id: cardId } } as const;
      return unlessMissing(insist(question, patience, ({ body }) => body ?? undefined));
    },

    heartbeat({ toolCallId, leaseId }, patience) {
      const body = { lease: leaseId };
      const said = { kind: "heartbeats", toolCallId, body, read: readBeat, timeoutMs: HEARTBEAT_TIMEOUT_MS } as const;
      return about("heartbeat", said, patience);
    },

    settle(settlement, patience) {
      const { toolCallId, traceparent } = settlement;
      const body = serviceResultBody(settlement);
      return about("settle", { kind: "results", toolCallId, body, traceparent, read: readSettled }, patience);
    },

    async putCard({ card, leaseId }, patience) {
      const headers = { ...aboutCall(card.tool_call_id ?? ""), ...leaseHeader(leaseId) };
      await insist({ operation: "put_card", headers, body: card }, patience, done);
    },

    async report({ target, payload, leaseId }, patience) {
      if (target.toolCallId === null) throw new ToolplaneError("protocol_violation", "a report names its call");
      // The subject's actor is the reporter; the headers name the call, and the body has its three fields and no more.
      const headers = { ...egress(target, ids, "topology"), ...leaseHeader(leaseId) };
      const { channelId } = target;
      return insist({ operation: "report", headers, channelId, body: payload }, patience, readSettled);
    },

    findTool: (name, patience) =>
      unlessMissing(insist({ operation: "get_tool", body: { tool_name: name } }, patience, readRegistered)),

    register: (definition, patience) => insist({ operation: "register", body: definition }, patience, readRegistration),
  };
};
