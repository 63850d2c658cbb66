// The gateway on NATS: tool services without HTTP send their requests here. Any number of processes serve it together; each
// request goes to one of them.
//   - Every request is answered once, with the answer or with one typed error; a refused one has changed nothing.
//   - A request without a reply address is not carried out, except parts, which have no answer.
//   - Requests in hand are bounded, in all and for each project (in-hand.ts): during a flood while the database hangs, further
//     requests are refused at once and unread with `rate_limited`; nothing was changed, and the service may ask again.
//   - Services of the older version, which say who they are about in the payload, are served too: their requests are translated
//     before anything else reads them (payload-style.ts). A server that does not let us listen to them is no reason not to start.
//   - A service that waits for work takes none of these places: such requests are counted apart.
//   - Calls that were leased for an answer go back to the queue at once when the answer cannot carry them, or reached no client.
//   - `stop` ends the waits, takes no more requests and waits for those that were begun.

import type { GivenReply, InboundRequest, NatsLink, NatsReply } from "@toolplane/bus/nats";
import { type Clock, createIds, type LeasedCall, type Log, systemClock } from "@toolplane/engine";
import { isToolplaneError, PROTOCOL_VERSION, ToolplaneError, understandError } from "@toolplane/protocol";
import { LEGACY_VERSION } from "@toolplane/protocol/v1r3";
import { giveBackCalls } from "./claim-calls.ts";
import { type ClockOffset, NO_OFFSET } from "./clock-offset.ts";
import { type ExchangeBody, exchangeWaitMs } from "./exchange.ts";
import { createInHand, type InHandLimits } from "./in-hand.ts";
import { planCommandsReply, planReply, type ReplyMeans, refusal } from "./nats-reply.ts";
import { type GatewayQuestion, mayAnswer, readQuestion, tryOperation } from "./nats-request.ts";
import { adaptPayloadRequest } from "./payload-style.ts";
import { SERVICE_OPERATIONS } from "./service-operations.ts";
import type { ServiceAnswer, ServiceEngine, ServiceOperation } from "./service-request.ts";

const patternOf = (version: string): string => `cg.${version}.*.*.rpc.gateway.*.>`;
/** The processes of the plane share the requests under this name. */
const GATEWAY_QUEUE = "gateway";

export interface NatsGatewayOptions {
  readonly engine: ServiceEngine;
  readonly link: Pick<NatsLink, "respond" | "maxPayload">;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** How far the database's clock, which ends leases, is ahead of this process's. */
  readonly offset?: ClockOffset | undefined;
  /** What may be in hand at once. */
  readonly most?: InHandLimits | undefined;
}

export interface NatsGateway {
  stop(): Promise<void>;
}

/** Enough to see what goes on; a sender of a million bad requests must not fill the log. */
const MAX_WARNINGS = 100;

/**
 * Far more than a database answers at once: a request behind so many others would have timed out before its turn. A body may be
 * as large as the largest result, so their characters are counted too.
 */
const MOST_IN_HAND: InHandLimits = { requests: 1_024, characters: 64 * 1024 * 1024 };

/** Services that wait for work: each has one request open. They cost memory and no work. */
const MOST_WAITING: InHandLimits = { requests: 8_192, characters: Number.POSITIVE_INFINITY };

/** A flood is over when less than this share of the places is taken. */
const STILL_FULL = 0.125;

const overloaded = (): ToolplaneError =>
  new ToolplaneError("rate_limited", "too many requests wait here already; ask again in a moment");

/** What makes a request one of the current version; throws the error that becomes the answer. */
type Translate = (inbound: InboundRequest) => InboundRequest;

/** Resolves when the NATS server knows that this process answers. */
export const createNatsGateway = async (options: NatsGatewayOptions): Promise<NatsGateway> => {
  const { engine, link, log, clock = systemClock, offset = NO_OFFSET, most = MOST_IN_HAND } = options;
  const ids = createIds();
  const running = new Set<Promise<unknown>>();
  const inHand = createInHand(most);
  const waiting = createInHand(MOST_WAITING);
  const closing = new AbortController();
  /** Questions for work that are open here, by who asked. */
  const open = new Map<string, Set<AbortController>>();
  let isFull = false;
  let warnings = 0;

  const meansNow = (): ReplyMeans => ({ nowMs: clock.now() + offset.aheadMs(), maxPayload: link.maxPayload?.() });

  const warn = (message: string, subject: string): void => {
    warnings += 1;
    if (warnings <= MAX_WARNINGS) log.warn(message, { subject });
  };

  const logFault = (fault: ToolplaneError, subject: string): void =>
    log.error("a request over NATS failed", { subject, code: fault.code, cause: String(fault.cause ?? fault) });

  const refuse = (error: unknown, subject: string): NatsReply => {
    const known = understandError(error);
    if (known.http >= 500) logFault(known, subject);
    return refusal(known, meansNow());
  };

  const giveBack = (calls: readonly LeasedCall[]): void => {
    giveBackCalls(engine, calls).catch((error: unknown) => {
      log.warn("calls could not be given back; their leases will lapse", { cause: understandError(error).message });
    });
  };

  const replyWith = (answer: ServiceAnswer, commands: readonly LeasedCall[]): GivenReply => {
    const { reply, sent, unsent } = planCommandsReply(answer, commands, meansNow());
    if (unsent.length > 0) giveBack(unsent);
    return sent.length === 0 ? reply : { ...reply, unheard: () => giveBack(sent) };
  };

  const askerOf = ({ projectId, caller, body }: GatewayQuestion["request"]): string =>
    [projectId, caller.targets?.[0], (body as ExchangeBody).holder].join(" ");

  /** A request that waits gives its place to others, and takes one among those that wait, until it ends or its service leaves. */
  const takeWaiting = ({ operation, request }: GatewayQuestion, place: Disposable) => {
    const { holder, leaves } = request.body as ExchangeBody;
    if (operation !== "exchange") return undefined;
    if (leaves === true && holder !== undefined) for (const one of open.get(askerOf(request)) ?? []) one.abort();
    if (exchangeWaitMs(request.body as ExchangeBody) === 0) return undefined;
    const [target = ""] = request.caller.targets ?? [];
    if (!waiting.admits(request.projectId, target)) throw overloaded();
    place[Symbol.dispose]();
    const taken = waiting.take(request.projectId, target, 0);
    const asker = askerOf(request);
    const left = new AbortController();
    const own = open.get(asker) ?? new Set();
    open.set(asker, own.add(left));
    return {
      signal: AbortSignal.any([closing.signal, left.signal]),
      [Symbol.dispose]() {
        taken[Symbol.dispose]();
        own.delete(left);
        if (own.size === 0) open.delete(asker);
      },
    };
  };

  const carryOut = async (inbound: InboundRequest, place: Disposable, translate: Translate): Promise<GivenReply> => {
    try {
      const question = readQuestion(translate(inbound));
      const { operation, request } = question;
      using waits = takeWaiting(question, place);
      const asked: ServiceOperation = SERVICE_OPERATIONS[operation];
      const answer = await asked.run({ engine, ...request, signal: waits?.signal ?? closing.signal });
      const [fault] = answer.faults ?? [];
      if (fault !== undefined) logFault(fault, inbound.subject);
      return answer.commands === undefined
        ? planReply(answer, operation === "lease", meansNow())
        : replyWith(answer, answer.commands);
    } catch (error) {
      return refuse(error, inbound.subject);
    }
  };

  /** Whether another request may come in; a flood is logged once, not each time a place is free for a moment. */
  const admits = (subject: string, projectId: string, operation: string): boolean => {
    const admitted = inHand.admits(projectId, operation);
    if (!admitted && !isFull)
      log.warn("requests over NATS are refused until others are answered", { waiting: running.size, subject });
    isFull = !admitted || (isFull && inHand.fills(STILL_FULL));
    return admitted;
  };

  const begin = (inbound: InboundRequest, place: Disposable, translate: Translate): Promise<GivenReply> => {
    const work: Promise<GivenReply> = carryOut(inbound, place, translate).finally(() => {
      place[Symbol.dispose]();
      running.delete(work);
    });
    running.add(work);
    return work;
  };

  const respond = async (inbound: InboundRequest, translate: Translate): Promise<GivenReply | undefined> => {
    const { reply, subject, payload } = inbound;
    const isAnswered = reply !== undefined && reply !== "";
    if (isAnswered && !mayAnswer(reply, subject)) {
      warn("a request wanted its answer published outside the sender's inbox; it was dropped", subject);
      return undefined;
    }
    const operation = tryOperation(subject) ?? "";
    if (!isAnswered && operation !== "parts") return undefined;
    const [, , projectId = ""] = subject.split(".");
    const answer = admits(subject, projectId, operation)
      ? await begin(inbound, inHand.take(projectId, operation, payload.length), translate)
      : refusal(overloaded(), meansNow());
    return isAnswered ? answer : undefined;
  };

  const serve = (version: string, translate: Translate) =>
    link.respond(patternOf(version), GATEWAY_QUEUE, (inbound) => respond(inbound, translate));

  const servePayloadStyle = async () => {
    try {
      return await serve(LEGACY_VERSION, (inbound) => adaptPayloadRequest(inbound, ids));
    } catch (error) {
      if (!isToolplaneError(error) || error.code !== "auth_failed") throw error;
      log.warn("services of the older protocol version cannot be served: the NATS user may not listen to them", {
        pattern: patternOf(LEGACY_VERSION),
      });
      return undefined;
    }
  };

  const served = await serve(PROTOCOL_VERSION, (inbound) => inbound);
  const payloadStyle = await servePayloadStyle();
  return {
    async stop() {
      closing.abort();
      await Promise.all([served.stop(), payloadStyle?.stop()]);
      await Promise.all(running);
    },
  };
};
