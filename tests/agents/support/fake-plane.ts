// An engine in memory, small enough to read: what a worker needs, with one project and no database. It keeps the contract
// of turns (one work per agent, claims that fence, steps committed whole) and records everything that was asked of it.

import type { Brain, WorkerEngine } from "@toolplane/agents";
import {
  type Advanced,
  type AgentKey,
  type PoolServer,
  type StepCommit,
  type StepEntry,
  stepIdOf,
  type TurnFinish,
  type Turns,
  type Work,
} from "@toolplane/engine";
import type { CommittedCall } from "@toolplane/engine/internal";
import { buildFailure, buildResult, type Card, createToolCallCard, ToolplaneError } from "@toolplane/protocol";
import { createInstructionCard } from "@toolplane/protocol/agents";
import { type Profile, parseProfileCard } from "@toolplane/protocol/registry";

export const PROJECT = "fake";

export interface FakeTurn {
  readonly agentId: string;
  readonly turnId: string;
  readonly profileBoxId: string;
  readonly kind: Work["kind"];
  readonly payload: Work["payload"];
  readonly depth: number;
  status: "queued" | "pending" | "working" | "suspended" | "ended";
  epoch: number;
  claim: string | undefined;
  steps: number;
  waiting: Set<string>;
  readonly commits: StepCommit[];
  end: TurnFinish | undefined;
}

export interface FakePlane {
  readonly engine: WorkerEngine;
  readonly turns: FakeTurn[];
  readonly dispatched: { readonly toolCallId: string; readonly toolName: string; readonly turn: FakeTurn }[];
  readonly chunks: Record<string, unknown>[];
  readonly counts: { advances: number; heartbeats: number; releases: number; begun: string[]; looks: number };
  /** What a call of the engine is to do instead, by the name of the function. */
  readonly trouble: Map<string, () => Promise<never>>;
  spawn(agentId: string, options?: SpawnOptions): FakeTurn;
  settle(toolCallId: string, result: unknown): void;
  stop(turn: FakeTurn): void;
  /** The claim is taken away, as if it had lapsed. */
  lapse(turn: FakeTurn): void;
  outputOf(turn: FakeTurn): readonly Card[];
}

export interface SpawnOptions {
  readonly profile?: Record<string, unknown> | null;
  readonly instruction?: string;
  readonly contextCards?: readonly Card[];
  readonly kind?: Work["kind"];
  readonly payload?: Work["payload"];
  readonly depth?: number;
  readonly silent?: boolean;
}

const NOW = "2026-01-02T03:04:05.000Z";

/** Tools whose names begin with `ui_` may be used from a user interface. */
export const createFakePlane = (tools: readonly string[] = ["echo"]): FakePlane => {
  const cards = new Map<string, Card>();
  const boxes = new Map<string, string[]>();
  const profiles = new Map<string, Profile>();
  const turns: FakeTurn[] = [];
  const dispatched: FakePlane["dispatched"] = [];
  const chunks: Record<string, unknown>[] = [];
  const counts: FakePlane["counts"] = { advances: 0, heartbeats: 0, releases: 0, begun: [], looks: 0 };
  const trouble: FakePlane["trouble"] = new Map();
  let ids = 0;
  let ring: ((key: AgentKey) => void) | undefined;
  const next = (prefix: string): string => `${prefix}_${++ids}`;

  const put = (boxId: string, card: Card): void => {
    cards.set(card.card_id, card);
    boxes.set(boxId, [...(boxes.get(boxId) ?? []), card.card_id]);
  };
  const ringFor = ({ agentId }: Pick<FakeTurn, "agentId">): void => ring?.({ projectId: PROJECT, agentId });
  const cardsIn = (boxId: string): Card[] =>
    (boxes.get(boxId) ?? []).map((id) => cards.get(id)).filter((card) => card !== undefined);
  const outBox = (turn: FakeTurn): string => `out_${turn.turnId}`;

  const troubled = async <T>(name: string, run: () => T): Promise<T> => {
    await Promise.resolve();
    await trouble.get(name)?.();
    return run();
  };

  const workOf = (turn: FakeTurn): Work => ({
    projectId: PROJECT,
    agentId: turn.agentId,
    agentTurnId: turn.turnId,
    kind: turn.kind,
    inboxId: `inbox_${turn.turnId}`,
    claimId: turn.claim ?? "",
    turnEpoch: turn.epoch,
    stepCount: turn.steps,
    channelId: "public",
    recursionDepth: turn.depth,
    traceId: "0".repeat(31).concat("1"),
    traceparent: "",
    profileBoxId: turn.profileBoxId,
    contextBoxId: `ctx_${turn.turnId}`,
    outputBoxId: outBox(turn),
    payload: turn.payload,
    runtimeConfig: {},
    metadata: {},
    inboxCreatedAtMs: 1_000,
    claimedAtMs: 1_010,
    turnCreatedAtMs: 1_000,
    turnDispatchedAtMs: 1_000,
  });

  const held = (work: Work): FakeTurn => {
    const turn = turns.find(({ turnId }) => turnId === work.agentTurnId);
    if (turn === undefined || turn.claim !== work.claimId || turn.status !== "working")
      throw new ToolplaneError("lease_lost", "the claim is gone");
    return turn;
  };

  const advance = ({ agentId, takeWork }: AgentKey & { takeWork: boolean }): Advanced => {
    counts.advances++;
    const own = turns.filter((turn) => turn.agentId === agentId && turn.status !== "ended");
    const current = own.find(({ status }) => status !== "queued") ?? own[0];
    if (current?.status === "queued") current.status = "pending";
    if (current?.status !== "pending") return { applied: 0, workLeft: false };
    if (!takeWork) return { applied: 0, workLeft: true };
    current.status = "working";
    current.epoch++;
    current.claim = next("claim");
    return { applied: 0, workLeft: false, work: workOf(current) };
  };

  const resultIdentity = (turn: FakeTurn, toolCallId: string, toolName: string, stepId: string) => ({
    cardId: next("card"),
    createdAt: NOW,
    projectId: PROJECT,
    agentTurnId: turn.turnId,
    toolCallId,
    authorId: "tool.test",
    toolName,
    toolCallMetadata: { step_id: stepId },
  });

  const commitCall = (turn: FakeTurn, stepId: string, entry: Extract<StepEntry, { call: unknown }>): CommittedCall => {
    const toolCallId = next("call");
    const { toolName, providerCallId } = entry.call;
    const callCardId = next("card");
    const refuse = entry.refuse ?? (tools.includes(toolName) ? undefined : new ToolplaneError("not_found", "no tool"));
    put(
      outBox(turn),
      createToolCallCard({
        cardId: callCardId,
        projectId: PROJECT,
        createdAt: NOW,
        authorId: turn.agentId,
        agentTurnId: turn.turnId,
        toolCallId,
        toolName,
        arguments: entry.call.arguments as never,
        lineage: { step_id: stepId },
        providerToolCallId: providerCallId,
      }),
    );
    if (refuse === undefined) {
      dispatched.push({ toolCallId, toolName, turn });
      turn.waiting.add(toolCallId);
    } else put(outBox(turn), buildFailure(resultIdentity(turn, toolCallId, toolName, stepId), refuse).card);
    return { toolCallId, callCardId, toolName, providerCallId: providerCallId ?? null, refusal: refuse };
  };

  const commitStep = (work: Work, step: StepCommit) => {
    const turn = held(work);
    turn.commits.push(step);
    turn.steps++;
    const calls: CommittedCall[] = [];
    for (const entry of step.entries) {
      if ("call" in entry) calls.push(commitCall(turn, step.stepId, entry));
      else if (entry.show !== false) put(outBox(turn), entry.card);
    }
    turn.status = turn.waiting.size > 0 ? "suspended" : "working";
    const next = turn.status === "suspended" ? ("suspended" as const) : ("running" as const);
    return { next, calls, stepCount: turn.steps };
  };

  const release = (turn: FakeTurn): void => {
    turn.status = "pending";
    turn.claim = undefined;
  };

  const fakeTurns: Partial<Turns> = {
    advance: (request) => troubled("advance", () => advance(request)),
    heartbeat: (works) =>
      troubled("heartbeat", () => {
        counts.heartbeats++;
        return works.filter((work) => turns.find(({ turnId }) => turnId === work.agentTurnId)?.claim !== work.claimId);
      }),
    release: (work) =>
      troubled("release", () => {
        counts.releases++;
        release(held(work));
      }),
    beginStep: (work, stepId) =>
      troubled("beginStep", () => {
        held(work);
        counts.begun.push(stepId);
      }),
    commitStep: (work, step) => troubled("commitStep", () => commitStep(work, step)),
    finish: (work, end) =>
      troubled("finish", () => {
        const turn = held(work);
        turn.end = end;
        turn.status = "ended";
        for (const entry of end.entries ?? [])
          if ("card" in entry && entry.show !== false) put(outBox(turn), entry.card);
        ringFor(turn);
        return {
          projectId: PROJECT,
          agentTurnId: turn.turnId,
          agentId: turn.agentId,
          correlationId: turn.turnId,
          status: end.status,
          deliverableCardId: "",
          outputBoxId: outBox(turn),
          error: end.error ?? null,
          errorCode: end.errorCode ?? null,
        };
      }),
    readBoxes: async (asks) =>
      asks.map(({ contextBoxId, outputBoxId }) => ({ context: cardsIn(contextBoxId), output: cardsIn(outputBoxId) })),
    readLong: async (_projectId, long, { keep }) =>
      new Map(
        long.flatMap(({ cardId }) => {
          const card = cards.get(cardId);
          return card === undefined ? [] : [[cardId, keep(card)] as const];
        }),
      ),
    due: () =>
      troubled("due", () => {
        counts.looks++;
        return turns
          .filter(({ status }) => status === "queued" || status === "pending")
          .map(({ agentId }) => ({ projectId: PROJECT, agentId }));
      }),
  };

  const definitionOf = (toolName: string) => ({
    projectId: PROJECT,
    toolName,
    version: 1,
    definitionHash: toolName,
    status: "active",
    definition: {
      tool_name: toolName,
      description: "",
      target_subject: "x",
      parameters: {},
      options: { ui_allowed: toolName.startsWith("ui_") },
    },
    validate: () => [],
  });

  const engine = {
    turns: fakeTurns,
    serveAgents: async (server: PoolServer) => {
      ring = (key) => server.rung(key);
      return { stop: async () => {} };
    },
    bus: {
      publishStream: ({ payload }: { payload: string }) => chunks.push(JSON.parse(payload)),
    },
    profiles: { loadProfile: async (_project: string, boxId: string) => profiles.get(boxId) },
    agents: {},
    definitions: {
      resolve: async (asks: readonly { toolName: string }[]) =>
        asks.map(({ toolName }) => (tools.includes(toolName) ? definitionOf(toolName) : undefined)),
    },
    tools: { listTools: async () => ({ items: tools.map((toolName) => ({ toolName })) }) },
    doorbell: { listen: () => () => {} },
  } as unknown as WorkerEngine;

  return {
    engine,
    turns,
    dispatched,
    chunks,
    counts,
    trouble,
    spawn(agentId, options = {}) {
      const turnId = next("turn");
      const profileBoxId = `profile_${turnId}`;
      const { profile = {} } = options;
      if (profile !== null) {
        const defaults = { name: agentId, worker_target: "pool", allowed_tools: ["echo"] };
        profiles.set(profileBoxId, parseProfileCard({ ...defaults, ...profile }));
      }
      const turn: FakeTurn = {
        agentId,
        turnId,
        profileBoxId,
        kind: options.kind ?? "turn",
        payload: options.payload ?? {},
        depth: options.depth ?? 0,
        status: "queued",
        epoch: 0,
        claim: undefined,
        steps: 0,
        waiting: new Set(),
        commits: [],
        end: undefined,
      };
      const text = options.instruction ?? "go";
      const origin = { cardId: next("card"), projectId: PROJECT, createdAt: NOW, authorId: "sys.test" };
      for (const card of [...(options.contextCards ?? []), createInstructionCard({ ...origin, text })])
        put(`ctx_${turnId}`, card);
      turns.push(turn);
      if (options.silent !== true) ringFor(turn);
      return turn;
    },
    settle(toolCallId, result) {
      const call = dispatched.find((one) => one.toolCallId === toolCallId);
      if (call === undefined) throw new ToolplaneError("not_found", "no such call");
      const { turn, toolName } = call;
      turn.waiting.delete(toolCallId);
      const stepId = stepIdOf(turn.turnId, turn.steps, turn.kind);
      const identity = resultIdentity(turn, toolCallId, toolName, stepId);
      put(
        outBox(turn),
        result instanceof ToolplaneError
          ? buildFailure(identity, result).card
          : buildResult(identity, { status: "success", result }).card,
      );
      if (turn.waiting.size === 0) release(turn);
      ringFor(turn);
    },
    stop(turn) {
      turn.status = "ended";
      turn.claim = undefined;
      ringFor(turn);
    },
    lapse(turn) {
      release(turn);
    },
    outputOf: (turn) => (boxes.get(outBox(turn)) ?? []).map((id) => cards.get(id)).filter((card) => card !== undefined),
  };
};

/** A brain by its function, and what it was asked. */
export const brainOf = (think: Brain["think"]): { brain: Brain; asked: Parameters<Brain["think"]>[0][] } => {
  const asked: Parameters<Brain["think"]>[0][] = [];
  return {
    asked,
    brain: {
      think: (request) => {
        asked.push(request);
        return think(request);
      },
    },
  };
};
