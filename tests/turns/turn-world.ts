// What a test of turns starts from: an engine, agents of one pool, and the steps of a turn as a worker takes them.

import type { Advanced, AgentKey, CommittedStep, EngineOptions, StepEntry, Work } from "@toolplane/engine";
import { stepIdOf } from "@toolplane/engine";
import type { SpawnRequest } from "@toolplane/engine/internal";
import { type Card, type JsonObject, textContent } from "@toolplane/protocol";
import { createThoughtCard } from "@toolplane/protocol/agents";
import {
  createMemoryCarrier,
  meddle,
  resultFor,
  startTestEngine,
  type TestEngine,
  type ToolSeed,
  withClient,
} from "@toolplane/testkit";

export const POOL = "pool_a";

export interface TurnWorld extends TestEngine {
  rows<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

const TOOLS: readonly ToolSeed[] = [
  { name: "safe", options: { retry: "safe" } },
  { name: "unsafe", options: { retry: "never" } },
  { name: "ender", afterExecution: "terminate" },
  {
    name: "strict",
    parameters: {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    },
  },
];

export const addAgent = async (t: TestEngine, agentId: string): Promise<AgentKey> => {
  await meddle(t, "addAgent", [t.projectId, agentId, POOL]);
  return { projectId: t.projectId, agentId };
};

export const startTurnWorld = async (
  options: Partial<EngineOptions> & { readonly tools?: readonly ToolSeed[] } = {},
) => {
  const t = await startTestEngine({ tools: TOOLS, ...options });
  await addAgent(t, "helper");
  const world: TurnWorld = Object.assign(t, {
    rows: <Row extends object>(sql: string, values: readonly unknown[] = []) =>
      withClient(t, async (client) => (await client.query<Row>(sql, [...values])).rows),
  });
  return world;
};

/** A world whose wakeups are messages, and whose bus is away: they stay where a test can look at them. */
export const startCarriedWorld = async (options: Partial<EngineOptions> = {}): Promise<TurnWorld> => {
  const carrier = createMemoryCarrier();
  carrier.away(true);
  return startTurnWorld({ ...options, carrier });
};

export const asking = (t: TestEngine, more: Partial<SpawnRequest> = {}): SpawnRequest => ({
  projectId: t.projectId,
  agentId: "helper",
  sourceAgentId: "sys.api",
  context: { instruction: "count the words" },
  ...more,
});

export const advance = (t: TestEngine, agentId = "helper", takeWork = true): Promise<Advanced> =>
  t.engine.turns.advance({ projectId: t.projectId, agentId, workerId: "worker-1", takeWork });

export const mustWork = ({ work }: Advanced): Work => {
  if (work === undefined) throw new RangeError("there was no work");
  return work;
};

export const takeTurn = async (t: TestEngine, more: Partial<SpawnRequest> = {}): Promise<Work> => {
  await t.engine.turns.spawn(asking(t, more));
  return mustWork(await advance(t, more.agentId));
};

export const thought = (work: Work, text = "let me see", toolCalls?: readonly JsonObject[]): Card =>
  createThoughtCard({
    cardId: `thought-${work.agentTurnId}-${work.stepCount}-${text.length}`,
    projectId: work.projectId,
    createdAt: "2026-01-02T03:04:05.000Z",
    authorId: work.agentId,
    agentTurnId: work.agentTurnId,
    text,
    toolCalls,
  });

export const call = (toolName: string, args: unknown = {}, providerCallId?: string): StepEntry => ({
  call: { toolName, arguments: args, providerCallId },
});

export const commit = (t: TestEngine, work: Work, ...entries: StepEntry[]): Promise<CommittedStep> =>
  t.engine.turns.commitStep(work, {
    stepId: stepIdOf(work.agentTurnId, work.stepCount + 1),
    entries: [{ card: thought(work) }, ...entries],
  });

/** Answers everything that is queued on the test target. */
export const answerAll = async (t: TestEngine, given: Parameters<typeof resultFor>[1] = {}): Promise<number> => {
  const claimed = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 256 });
  await Promise.all(claimed.map((leased) => t.engine.calls.settle(resultFor(leased, given))));
  return claimed.length;
};

export interface EventRow {
  readonly subject: string;
  readonly payload: JsonObject;
  readonly headers: Record<string, string>;
  readonly message_id: string;
}

export const events = async (t: TurnWorld, kind: "task" | "state" | "step"): Promise<EventRow[]> =>
  t.rows<EventRow>(
    `select subject, payload::json as payload, headers::json as headers, message_id from bus.events
      where subject like $1 order by id, part`,
    [`%.${kind}`],
  );

export const plainCard = (work: Work, cardId: string, text = "hello"): Card => ({
  card_id: cardId,
  project_id: work.projectId,
  type: "task.context",
  content: textContent(text),
  created_at: "2026-01-02T03:04:05.000Z",
  author_id: work.agentId,
  metadata: { role: "user" },
  tool_calls: null,
  tool_call_id: null,
  ttl_seconds: null,
});
