// The gateway over HTTP: the routes of the API, and commands by claims that wait.

import type { GatewayOperation, TraceIds } from "@toolplane/protocol";
import type { ToolGateway } from "../gateway/gateway.ts";
import { readClaim } from "../gateway/wire.ts";
import { createWireGateway, type GatewayQuestion } from "../gateway/wire-gateway.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import { createHttpClient } from "./http-client.ts";

export interface HttpGatewayOptions {
  /** `http://127.0.0.1:7420`; without a path, query or user. */
  readonly url: string;
  readonly token?: string | undefined;
  /** Where the server is now, if that is known. */
  readonly find?: (() => string | undefined) | undefined;
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
const HEARTBEAT_TIMEOUT_MS = 5_000;
/** Results may be as large as a card. */
const LARGE_TIMEOUT_MS = 30_000;
const LARGE: ReadonlySet<GatewayOperation> = new Set(["settle", "exchange", "put_card"]);

/** Also with an administrator's token: it must not undo what people decided about the tool. */
const AS_SERVICE = { "toolplane-register-as": "service" };

/** The last part of the path, of the operations on one call. */
const VERBS: Partial<Record<GatewayOperation, string>> = {
  settle: "result",
  heartbeat: "heartbeat",
  release: "release",
  parts: "parts",
  get_card: "card",
};

export interface HttpGateway extends ToolGateway {
  /** Ends the kept connections. */
  close(): Promise<void>;
}

export const createHttpGateway = (options: HttpGatewayOptions): HttpGateway => {
  const { projectId, clock, random, ids, log } = options;
  const send = createHttpClient(options);
  let { target: served } = options;
  const pathOf = (...parts: readonly string[]): string =>
    ["/projects", ...[projectId, ...parts].map(encodeURIComponent)].join("/");

  const routeOf = ({ operation, toolCallId, body }: GatewayQuestion): string => {
    const { card_id: cardId = "", tool_name: toolName = "", version } = (body ?? {}) as Record<string, string>;
    const verb = VERBS[operation];
    if (verb !== undefined && toolCallId !== undefined) return pathOf("calls", toolCallId, verb);
    if (operation === "get_card") return pathOf("cards", cardId);
    if (operation === "get_tool")
      return `${pathOf("tools", toolName)}${version === undefined ? "" : `?version=${version}`}`;
    if (operation === "exchange") return pathOf("tool-services", served ?? "", "exchange");
    return pathOf(operation === "put_card" ? "cards" : operation === "report" ? "reports" : "tools");
  };

  const wire = createWireGateway({
    projectId,
    clock,
    random,
    ids,
    log,
    heartbeatMs: HEARTBEAT_TIMEOUT_MS,
    isOpen: () => served !== undefined,
    ask(question) {
      const { operation, headers, body, text, signal } = question;
      const { timeoutMs = LARGE.has(operation) ? LARGE_TIMEOUT_MS : undefined } = question;
      const path = routeOf(question);
      if (operation === "get_card" || operation === "get_tool") return send({ method: "GET", path, timeoutMs, signal });
      const own = operation === "register" ? AS_SERVICE : headers;
      return send({ method: "POST", path, headers: own, body, text, timeoutMs, signal });
    },
  });

  return {
    ...wire,
    close: () => send.close(),

    async claim({ target, max, waitMs, definitions }, signal) {
      served = target;
      const { holder } = options;
      const answer = await send({
        method: "POST",
        path: pathOf("tool-services", target, "claim"),
        body: {
          max,
          wait_seconds: waitMs / 1_000,
          ...(holder === undefined ? {} : { holder }),
          ...(definitions === undefined ? {} : { definitions }),
        },
        signal,
        timeoutMs: waitMs + CLAIM_MARGIN_MS,
      });
      return readClaim(answer);
    },
  };
};
