// The gateway over HTTP: the routes of the API. Items about calls travel together, by the exchange of the target that was claimed
// for (gateway/exchange.ts); every other operation is one request. gateway/patience.ts says which failures are retried.

import { egress, isToolplaneError, type ToolDefinition, type TraceIds } from "@toolplane/protocol";
import { createExchange, type Said, sayPatiently } from "../gateway/exchange.ts";
import type { CardRef, Patience, ToolGateway } from "../gateway/gateway.ts";
import { createPartPipe } from "../gateway/part-pipe.ts";
import { withPatience } from "../gateway/patience.ts";
import {
  leaseHeader,
  partsBody,
  readBeat,
  readClaim,
  readRegistered,
  readRegistration,
  readSettled,
  serviceResultBody,
} from "../gateway/wire.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import { createHttpClient, type HttpAnswer, type HttpRequest } from "./http-client.ts";

export interface HttpGatewayOptions {
  /** `http://127.0.0.1:7420`; without a path, query or user. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly projectId: string;
  /** The target that is served; taken from the first claim when it is not given. */
  readonly target?: string | undefined;
  /** Who runs the calls, as people read it in `why`: a machine and a process. */
  readonly holder?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: TraceIds;
  readonly log: Log;
}

/** Added to a claim's wait for the way there and back. */
const CLAIM_MARGIN_MS = 10_000;
/** A heartbeat that takes longer is given up: the next one is sent instead. */
const HEARTBEAT_TIMEOUT_MS = 5_000;
/** Results may be as large as a card. */
const SETTLE_TIMEOUT_MS = 30_000;

const notThere = (error: unknown): boolean => isToolplaneError(error) && error.code === "not_found";

const done = (): void => {};

export interface HttpGateway extends ToolGateway {
  /** Ends the kept connections. */
  close(): Promise<void>;
}

export const createHttpGateway = (options: HttpGatewayOptions): HttpGateway => {
  const { projectId, clock, random, ids } = options;
  const send = createHttpClient(options);
  const project = `/projects/${encodeURIComponent(projectId)}`;
  let { target: served } = options;
  const servicePath = (target: string, what: string): string =>
    `${project}/tool-services/${encodeURIComponent(target)}/${what}`;
  const callPath = (toolCallId: string, what: string): string =>
    `${project}/calls/${encodeURIComponent(toolCallId)}/${what}`;

  /** An answer that cannot be read counts as a failed try. */
  const ask = <T>(request: HttpRequest, patience: Patience = {}, read: (answer: HttpAnswer) => T): Promise<T> =>
    withPatience({ clock, random }, patience, async () => read(await send({ ...request, signal: patience.signal })));

  const cardPath = ({ cardId, toolCallId }: CardRef): string =>
    toolCallId === undefined ? `${project}/cards/${encodeURIComponent(cardId)}` : callPath(toolCallId, "card");

  const exchange = createExchange({
    clock,
    isOpen: () => served !== undefined,
    send: (text, signal) => {
      const path = servicePath(served ?? "", "exchange");
      return send({ method: "POST", path, text, signal, timeoutMs: SETTLE_TIMEOUT_MS });
    },
  });

  /** Sent together with other items; a lone item uses the single route. */
  const about = <T>(
    verb: "result" | "heartbeat" | "release" | "parts",
    said: Omit<Said<T>, "alone">,
    patience: Patience = {},
  ): Promise<T> => {
    const { signal } = patience;
    const { traceparent, body, toolCallId, timeoutMs = verb === "result" ? SETTLE_TIMEOUT_MS : undefined } = said;
    const headers = traceparent === undefined ? undefined : { traceparent };
    const alone = async (): Promise<T> =>
      said.read(await send({ method: "POST", path: callPath(toolCallId, verb), body, headers, timeoutMs, signal }));
    return sayPatiently({ clock, random }, exchange, { ...said, alone, signal }, patience);
  };

  const sendParts = createPartPipe(async (call, parts) => {
    const body = partsBody(call, parts);
    await about("parts", { kind: "parts", toolCallId: call.toolCallId, body, read: done });
  }, options.log);

  return {
    projectId,
    sendParts,
    close: () => send.close(),

    async claim({ target, max, waitMs }, signal) {
      served = target;
      const answer = await send({
        method: "POST",
        path: servicePath(target, "claim"),
        body: {
          max,
          wait_seconds: waitMs / 1_000,
          ...(options.holder === undefined ? {} : { holder: options.holder }),
        },
        signal,
        timeoutMs: waitMs + CLAIM_MARGIN_MS,
      });
      return readClaim(answer);
    },

    async readCard(ref, patience) {
      try {
        return await ask({ method: "GET", path: cardPath(ref) }, patience, ({ body }) => body ?? undefined);
      } catch (error) {
        if (notThere(error)) return undefined;
        throw error;
      }
    },

    heartbeat({ toolCallId, leaseId }, patience) {
      const body = { lease: leaseId };
      const said = { kind: "heartbeats", toolCallId, body, read: readBeat, timeoutMs: HEARTBEAT_TIMEOUT_MS } as const;
      return about("heartbeat", said, patience);
    },

    release: ({ toolCallId, leaseId }, patience) =>
      about("release", { kind: "releases", toolCallId, body: { lease: leaseId }, read: done }, patience),

    settle(settlement, patience) {
      const { toolCallId, traceparent } = settlement;
      const body = serviceResultBody(settlement);
      return about("result", { kind: "results", toolCallId, body, traceparent, read: readSettled }, patience);
    },

    async putCard({ card, leaseId }, patience) {
      const path = `${project}/cards`;
      const headers = leaseHeader(leaseId);
      await ask({ method: "POST", path, body: card, headers, timeoutMs: SETTLE_TIMEOUT_MS }, patience, done);
    },

    async report({ target, payload, leaseId }, patience) {
      // The token's actor is the reporter; the headers name the call, and the body has its three fields and no more.
      const headers = { ...egress(target, ids, "topology"), ...leaseHeader(leaseId) };
      return ask({ method: "POST", path: `${project}/reports`, body: payload, headers }, patience, readSettled);
    },

    async findTool(name, patience) {
      try {
        const path = `${project}/tools/${encodeURIComponent(name)}`;
        return await ask({ method: "GET", path }, patience, readRegistered);
      } catch (error) {
        if (notThere(error)) return undefined;
        throw error;
      }
    },

    async register(definition: ToolDefinition, patience) {
      // Registered as a service even with an administrator's token: it must not undo what people decided about the tool.
      const headers = { "toolplane-register-as": "service" };
      return ask({ method: "POST", path: `${project}/tools`, body: definition, headers }, patience, readRegistration);
    },
  };
};
