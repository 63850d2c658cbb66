// The gateway over HTTP: the routes of the API, one operation each. Which failures are tried again is gateway/patience.ts.

import { egress, isToolplaneError, type ToolDefinition, type TraceIds } from "@toolplane/protocol";
import type { CardRef, HeldCall, Patience, ToolGateway } from "../gateway/gateway.ts";
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
  settlementBody,
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
  /** Who runs the calls, as people read it in `why`: a machine and a process. */
  readonly holder?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: TraceIds;
  readonly log: Log;
}

/** The server answers a claim at the end of its wait; this is for the way there and back. */
const CLAIM_MARGIN_MS = 10_000;
/** A heartbeat that takes longer is worth less than the next one. */
const HEARTBEAT_TIMEOUT_MS = 5_000;
/** Results may be as large as a card. */
const SETTLE_TIMEOUT_MS = 30_000;

const notThere = (error: unknown): boolean => isToolplaneError(error) && error.code === "not_found";

const done = (): void => {};

export const createHttpGateway = (options: HttpGatewayOptions): ToolGateway => {
  const { projectId, clock, random, ids } = options;
  const send = createHttpClient(options);
  const project = `/projects/${encodeURIComponent(projectId)}`;
  const callPath = (toolCallId: string, what: string): string =>
    `${project}/calls/${encodeURIComponent(toolCallId)}/${what}`;

  /** An answer that cannot be read is a failed try like any other. */
  const ask = <T>(request: HttpRequest, patience: Patience = {}, read: (answer: HttpAnswer) => T): Promise<T> =>
    withPatience({ clock, random }, patience, async () => read(await send({ ...request, signal: patience.signal })));

  const cardPath = ({ cardId, toolCallId }: CardRef): string =>
    toolCallId === undefined ? `${project}/cards/${encodeURIComponent(cardId)}` : callPath(toolCallId, "card");

  const sendParts = createPartPipe(async (call, parts) => {
    await send({ method: "POST", path: callPath(call.toolCallId, "parts"), body: partsBody(call, parts) });
  }, options.log);

  return {
    projectId,
    sendParts,

    async claim({ target, max, waitMs }, signal) {
      const answer = await send({
        method: "POST",
        path: `${project}/tool-services/${encodeURIComponent(target)}/claim`,
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

    async heartbeat({ toolCallId, leaseId }, patience) {
      const path = callPath(toolCallId, "heartbeat");
      const body = { lease: leaseId };
      return ask({ method: "POST", path, body, timeoutMs: HEARTBEAT_TIMEOUT_MS }, patience, readBeat);
    },

    async release({ toolCallId, leaseId }: HeldCall, patience) {
      await ask({ method: "POST", path: callPath(toolCallId, "release"), body: { lease: leaseId } }, patience, done);
    },

    async settle(settlement, patience) {
      const { toolCallId, traceparent } = settlement;
      const request: HttpRequest = {
        method: "POST",
        path: callPath(toolCallId, "result"),
        body: settlementBody(settlement),
        headers: traceparent === undefined ? undefined : { traceparent },
        timeoutMs: SETTLE_TIMEOUT_MS,
      };
      return ask(request, patience, readSettled);
    },

    async putCard({ card, leaseId }, patience) {
      const path = `${project}/cards`;
      const headers = leaseHeader(leaseId);
      await ask({ method: "POST", path, body: card, headers, timeoutMs: SETTLE_TIMEOUT_MS }, patience, done);
    },

    async report({ target, payload, leaseId }, patience) {
      // Who reports is the token's actor; the headers say for which call, and the body keeps to its three fields.
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
      // As a service whatever the token may do: an administrator's token must not undo what people decided either.
      const headers = { "toolplane-register-as": "service" };
      return ask({ method: "POST", path: `${project}/tools`, body: definition, headers }, patience, readRegistration);
    },
  };
};
