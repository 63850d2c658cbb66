// The operations of the gateway, the same over HTTP and NATS. Each of the two says how a question travels and how commands come.
// Items about calls travel together (exchange.ts); every other operation is one question (G3: patience.ts says what is retried).

import {
  egress,
  type GatewayOperation,
  HEADERS,
  type HeaderMap,
  isToolplaneError,
  violation,
} from "@toolplane/protocol";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import { createExchange, type ExchangeOptions, type Said, sayPatiently } from "./exchange.ts";
import type { Patience, ToolGateway } from "./gateway.ts";
import { createPartPipe } from "./part-pipe.ts";
import { type PatienceDeps, withPatience } from "./patience.ts";
import {
  type Answer,
  leaseHeader,
  partsBody,
  readBeat,
  readDefinition,
  readRegistered,
  readRegistration,
  readSettled,
  serviceResultBody,
} from "./wire.ts";

export interface GatewayQuestion {
  readonly operation: GatewayOperation;
  /** The call it is about. */
  readonly toolCallId?: string | undefined;
  readonly body?: unknown;
  /** The body as JSON text, when the caller has written it already; instead of `body`. */
  readonly text?: string | undefined;
  readonly headers?: HeaderMap | undefined;
  /** The channel of the command it is about, when known. */
  readonly channelId?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type AskGateway = (question: GatewayQuestion) => Promise<Answer>;

export interface WireGatewayOptions extends PatienceDeps, Pick<ExchangeOptions, "isOpen" | "maxChars"> {
  readonly ask: AskGateway;
  readonly projectId: string;
  readonly ids: Pick<Ids, "spanId" | "traceId">;
  readonly log: Log;
  /** A heartbeat that takes longer is given up: the next one is sent instead. */
  readonly heartbeatMs: number;
}

const done = (): void => {};

const unlessMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isToolplaneError(error) && error.code === "not_found") return undefined;
    throw error;
  }
};

export const createWireGateway = (options: WireGatewayOptions): Omit<ToolGateway, "claim"> => {
  const { ask, projectId, clock, ids, heartbeatMs } = options;

  /** An answer that cannot be read counts as a failed try. */
  const insist = <T>(question: GatewayQuestion, patience: Patience = {}, read: (answer: Answer) => T): Promise<T> =>
    withPatience(options, patience, async () => read(await ask({ ...question, signal: patience.signal })));

  const { isOpen, maxChars } = options;
  const exchange = createExchange({
    clock,
    isOpen,
    maxChars,
    send: (text, signal) => ask({ operation: "exchange", text, signal }),
  });

  /** Sent together with other items; a lone item is an operation of its own. */
  const about = <T>(
    operation: "settle" | "heartbeat" | "release" | "parts",
    said: Omit<Said<T>, "alone">,
    patience: Patience = {},
  ): Promise<T> => {
    const { traceparent, body, toolCallId, timeoutMs } = said;
    const headers = traceparent === undefined ? undefined : { [HEADERS.traceparent]: traceparent };
    const { signal } = patience;
    const alone = async (): Promise<T> =>
      said.read(await ask({ operation, toolCallId, headers, body, timeoutMs, signal }));
    return sayPatiently(options, exchange, { ...said, alone, signal }, patience);
  };

  const pipe = createPartPipe(async (call, parts) => {
    const body = partsBody(call, parts);
    await about("parts", { kind: "parts", toolCallId: call.toolCallId, body, read: done });
  }, options);

  return {
    projectId,
    sendParts: pipe.send,

    readCard({ cardId, toolCallId }, patience) {
      const question = { operation: "get_card", toolCallId, body: { card_id: cardId } } as const;
      return unlessMissing(insist(question, patience, ({ body }) => body ?? undefined));
    },

    heartbeat({ toolCallId, leaseId }, patience) {
      const body = { lease: leaseId };
      const said = { kind: "heartbeats", toolCallId, body, read: readBeat, timeoutMs: heartbeatMs } as const;
      return about("heartbeat", said, patience);
    },

    release({ toolCallId, leaseId }, patience) {
      const said = { kind: "releases", toolCallId, body: { lease: leaseId }, read: done } as const;
      return pipe.before(toolCallId, () => about("release", said, patience));
    },

    settle(settlement, patience) {
      const { toolCallId, traceparent } = settlement;
      const body = serviceResultBody(settlement);
      const said = { kind: "results", toolCallId, body, traceparent, read: readSettled } as const;
      return pipe.before(toolCallId, () => about("settle", said, patience));
    },

    putCard({ card, leaseId }, patience) {
      const toolCallId = card.tool_call_id ?? "";
      return insist({ operation: "put_card", toolCallId, headers: leaseHeader(leaseId), body: card }, patience, done);
    },

    async report({ target, payload, leaseId }, patience) {
      const { channelId, toolCallId } = target;
      if (toolCallId === null) throw violation("a report names its call");
      // The token or the subject names the reporter, the headers name the call, and the body has its three fields and no more.
      const headers = { ...egress(target, ids, "topology"), ...leaseHeader(leaseId) };
      const question = { operation: "report", headers, channelId, body: payload } as const;
      return pipe.before(toolCallId, () => insist(question, patience, readSettled));
    },

    readDefinition: ({ toolName, version }, patience) =>
      unlessMissing(
        insist({ operation: "get_tool", body: { tool_name: toolName, version } }, patience, readDefinition),
      ),

    findTool: (name, patience) =>
      unlessMissing(insist({ operation: "get_tool", body: { tool_name: name } }, patience, readRegistered)),

    register: (definition, patience) => insist({ operation: "register", body: definition }, patience, readRegistration),
  };
};
