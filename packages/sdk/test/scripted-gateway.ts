// A gateway that does what a test tells it and writes down what it was asked. Operations answer well unless told otherwise.

import type { Card, JsonValue, ToolDefinition } from "@toolplane/protocol";
import type {
  Beat,
  CallParts,
  CardRef,
  ClaimedCommand,
  ClaimRequest,
  DefinitionRef,
  HeldCall,
  Patience,
  RegisteredTool,
  Registration,
  Report,
  ServiceResult,
  Settled,
  ToolGateway,
} from "../src/gateway/gateway.ts";
import { withPatience } from "../src/gateway/patience.ts";
import type { Clock } from "../src/ports/clock.ts";
import { PROJECT, type SampleCall } from "./sample-call.ts";

export interface Script {
  claim?: (request: ClaimRequest, signal: AbortSignal | undefined) => Promise<readonly ClaimedCommand[]>;
  readCard?: (ref: CardRef) => Promise<unknown>;
  heartbeat?: (held: HeldCall, count: number) => Promise<Beat>;
  release?: (held: HeldCall) => Promise<void>;
  settle?: (settlement: ServiceResult, count: number) => Promise<Settled>;
  putCard?: (card: Card) => Promise<void>;
  report?: (report: Report, count: number) => Promise<Settled>;
  readDefinition?: (ref: DefinitionRef) => Promise<ToolDefinition | undefined>;
  findTool?: (name: string) => Promise<RegisteredTool | undefined>;
  register?: (definition: ToolDefinition) => Promise<Registration | undefined>;
}

export interface ScriptedGateway extends ToolGateway {
  readonly script: Script;
  readonly claims: ClaimRequest[];
  readonly reads: CardRef[];
  readonly beats: HeldCall[];
  readonly released: HeldCall[];
  readonly settled: ServiceResult[];
  readonly cards: Card[];
  readonly reports: Report[];
  readonly parts: { readonly index: number; readonly part: JsonValue }[];
  readonly registered: ToolDefinition[];
  /** In the order in which they were asked. */
  readonly operations: string[];
}

export interface ScriptedGatewayOptions {
  readonly clock: Clock;
  readonly calls?: readonly SampleCall[];
  readonly script?: Script;
  readonly leaseMs?: number;
}

export const createScriptedGateway = ({
  clock,
  calls = [],
  script = {},
  leaseMs = 15_000,
}: ScriptedGatewayOptions): ScriptedGateway => {
  const byCard = new Map(calls.map(({ card }) => [card.card_id, card]));
  const log = {
    claims: [] as ClaimRequest[],
    reads: [] as CardRef[],
    beats: [] as HeldCall[],
    released: [] as HeldCall[],
    settled: [] as ServiceResult[],
    cards: [] as Card[],
    reports: [] as Report[],
    parts: [] as { index: number; part: JsonValue }[],
    registered: [] as ToolDefinition[],
    operations: [] as string[],
  };
  const patiently = <T>(patience: Patience | undefined, work: () => Promise<T>): Promise<T> =>
    withPatience({ clock, random: () => 0 }, patience ?? {}, work);

  return {
    ...log,
    projectId: PROJECT,
    script,
    async claim(request, signal) {
      log.claims.push(request);
      log.operations.push("claim");
      if (script.claim) return script.claim(request, signal);
      // There is never work; a service that stops ends the request.
      return new Promise((resolve) => signal?.addEventListener("abort", () => resolve([]), { once: true }));
    },
    readCard: (ref, patience) =>
      patiently(patience, async () => {
        log.reads.push(ref);
        log.operations.push("readCard");
        return script.readCard ? script.readCard(ref) : byCard.get(ref.cardId);
      }),
    heartbeat: (held, patience) =>
      patiently(patience, async () => {
        log.beats.push(held);
        log.operations.push("heartbeat");
        if (script.heartbeat) return script.heartbeat(held, log.beats.length);
        return { expiresAt: clock.now() + leaseMs, cancel: false };
      }),
    release: (held, patience) =>
      patiently(patience, async () => {
        log.released.push(held);
        log.operations.push("release");
        await script.release?.(held);
      }),
    settle: (settlement, patience) =>
      patiently(patience, async () => {
        log.settled.push(settlement);
        log.operations.push("settle");
        if (script.settle) return script.settle(settlement, log.settled.length);
        return { toolResultCardId: "card_result", idempotent: false };
      }),
    putCard: ({ card }, patience) =>
      patiently(patience, async () => {
        log.cards.push(card);
        log.operations.push("putCard");
        await script.putCard?.(card);
      }),
    report: (report, patience) =>
      patiently(patience, async () => {
        log.reports.push(report);
        log.operations.push("report");
        if (script.report) return script.report(report, log.reports.length);
        return { toolResultCardId: report.payload.tool_result_card_id, idempotent: log.reports.length > 1 };
      }),
    sendParts({ parts }: CallParts) {
      log.operations.push("sendParts");
      log.parts.push(...parts);
    },
    readDefinition: (ref, patience) =>
      patiently(patience, async () => {
        log.operations.push("readDefinition");
        return script.readDefinition?.(ref);
      }),
    findTool: (name, patience) =>
      patiently(patience, async () => {
        log.operations.push("findTool");
        return script.findTool?.(name);
      }),
    register: (definition, patience) =>
      patiently(patience, async () => {
        log.operations.push("register");
        const registration = await script.register?.(definition);
        log.registered.push(definition);
        return registration ?? { inForce: undefined };
      }),
  };
};
