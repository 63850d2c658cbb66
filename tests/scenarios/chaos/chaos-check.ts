// What a plane under chaos has lost, doubled or left behind: calls by the testkit's checker, turns by counting here.
// Everything is read from the tables and the journal; nobody who did the work is asked.

import { setTimeout as delay } from "node:timers/promises";
import { type Findings, planFindings, queryTestDatabase, readJournal, readTables } from "@toolplane/testkit";
import { COUNT_DELIVERABLES, COUNT_UNDER_WAY, READ_TURNS } from "./chaos-check.sql.ts";
import { TEAM_EVERY } from "./chaos-load.ts";
import { type ChaosPlane, PROJECT } from "./chaos-plane.ts";

export interface TurnRow {
  readonly agent_turn_id: string;
  readonly status: string;
  readonly error_code: string | null;
  readonly correlation_id: string;
  readonly parent_agent_turn_id: string | null;
  readonly step_count: number;
  readonly ended: boolean;
}

export interface UnderWay {
  readonly calls: number;
  readonly turns: number;
  readonly heads: number;
  readonly messages: number;
}

const POLL_MS = 200;
/** What every script of the load takes. */
const STEPS = 2;

const countUnderWay = async (plane: ChaosPlane): Promise<UnderWay> => {
  const [row] = await queryTestDatabase(plane.databaseUrl, COUNT_UNDER_WAY);
  return row as unknown as UnderWay;
};

/** Until nothing is under way and everything has left, or the patience ends. */
export const untilQuiet = async (plane: ChaosPlane, patienceMs: number): Promise<UnderWay> => {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const left = await countUnderWay(plane);
    const quiet = left.calls + left.turns + left.heads + left.messages === 0;
    if (quiet || performance.now() > deadline) return left;
    await delay(POLL_MS);
  }
};

/** The calls: those of people as they are, those of agents with what only a worker can have seen put beside them. */
const checkCalls = async (plane: ChaosPlane): Promise<Findings> => {
  const tables = await readTables(plane.databaseUrl);
  const ids = new Set(tables.calls.map(({ tool_call_id }) => tool_call_id));
  const journal = [
    ...readJournal(plane.journal),
    // The project manager's work is in the tables: its effects are the turns counted below.
    ...tables.calls
      .filter(({ tool_name }) => tool_name === "fork_join")
      .map(({ tool_call_id }) => ({ what: "effect", call: tool_call_id, attempt: 1, by: "pmo" }) as const),
    // Wakeups went to workers, who keep no journal: a turn that was not woken has not ended, which is counted below.
    ...tables.calls
      .filter(({ headless }) => !headless)
      .map(({ tool_call_id }) => ({ what: "handled", message: tool_call_id, by: "", subject: ".wakeup" }) as const),
    // Nor does whoever is told that a turn has ended: what was to be told has left, which is counted below.
    ...tables.turns.flatMap(({ agent_turn_id: id }) => [
      { what: "handled", message: id, by: "", subject: ".wakeup" } as const,
      { what: "handled", message: `${id}:task`, by: "", subject: ".task" } as const,
    ]),
  ];
  const inbox = tables.inbox.filter(({ correlation_id }) => ids.has(correlation_id));
  // What a model was asked with names its step, not its turn: `prompt_<step>_<hash>`.
  const turns = new Map(tables.steps.map(({ step_id, agent_turn_id }) => [step_id, agent_turn_id]));
  const stepOf = (id: string): string => id.slice(id.indexOf("_") + 1, id.lastIndexOf("_"));
  const cards = tables.cards.map((card) => ({
    ...card,
    agent_turn_id: card.agent_turn_id ?? turns.get(stepOf(card.card_id)) ?? null,
  }));
  return planFindings({ ...tables, inbox, cards }, journal, { carrier: "external" });
};

type TurnFindings = Pick<Findings, "lost" | "doubled" | "stuck">;

/** Pure: what is wrong with these turns, of which so many were asked for; `handed` counts deliverables by turn. */
export const planTurnFindings = (
  turns: readonly TurnRow[],
  handed: ReadonlyMap<string, number>,
  asked: number,
): TurnFindings => {
  const byKey = Map.groupBy(turns, ({ correlation_id }) => correlation_id);
  const children = Map.groupBy(turns, ({ parent_agent_turn_id }) => parent_agent_turn_id ?? "");
  const lost: string[] = [];
  const doubled: string[] = [];
  for (let n = 0; n < asked; n += 1) {
    const [turn, ...more] = byKey.get(`turn-${n}`) ?? [];
    if (turn === undefined) lost.push(`turn-${n} is not there`);
    if (more.length > 0) doubled.push(`turn-${n} is there ${more.length + 1} times`);
    const wanted = n % TEAM_EVERY === 0 ? 2 : 0;
    const found = children.get(turn?.agent_turn_id ?? "none")?.length ?? 0;
    if (turn?.ended === true && found < wanted) lost.push(`turn-${n} has ${found} children, not ${wanted}`);
    if (found > wanted) doubled.push(`turn-${n} has ${found} children, not ${wanted}`);
  }
  for (const { agent_turn_id: id, status, error_code, step_count, ended } of turns) {
    if (ended && status !== "success") lost.push(`turn ${id} ended as ${status} (${error_code})`);
    const cards = handed.get(id) ?? 0;
    if (ended && cards < 1) lost.push(`turn ${id} ended without a deliverable`);
    if (cards > 1) doubled.push(`turn ${id} has ${cards} deliverables`);
    if (step_count > STEPS) doubled.push(`turn ${id} took ${step_count} steps, not ${STEPS}`);
  }
  return { lost, doubled, stuck: turns.filter(({ ended }) => !ended).map((turn) => `turn ${turn.agent_turn_id}`) };
};

const checkTurns = async (plane: ChaosPlane, asked: number): Promise<TurnFindings> => {
  const turns = (await queryTestDatabase(plane.databaseUrl, READ_TURNS, [PROJECT])) as unknown as TurnRow[];
  const cards = await queryTestDatabase(plane.databaseUrl, COUNT_DELIVERABLES, [PROJECT]);
  return planTurnFindings(turns, new Map(cards.map((row) => [String(row.agent_turn_id), Number(row.cards)])), asked);
};

export interface ChaosCheck {
  readonly findings: Findings;
  /** Calls by how they ended. */
  readonly ended: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly turns: number;
  readonly effects: number;
}

export const checkChaos = async (plane: ChaosPlane, turns: number): Promise<ChaosCheck> => {
  const ofCalls = await checkCalls(plane);
  const ofTurns = await checkTurns(plane, turns);
  const tables = await readTables(plane.databaseUrl);
  const ways = Map.groupBy(tables.calls, ({ status, error_code }) => error_code ?? status);
  return {
    findings: {
      ...ofCalls,
      lost: [...ofCalls.lost, ...ofTurns.lost],
      doubled: [...ofCalls.doubled, ...ofTurns.doubled],
      stuck: [...ofCalls.stuck, ...ofTurns.stuck],
    },
    ended: Object.fromEntries([...ways].map(([way, calls]) => [way, calls.length])),
    calls: tables.calls.length,
    turns: (await queryTestDatabase(plane.databaseUrl, READ_TURNS, [PROJECT])).length,
    effects: readJournal(plane.journal).filter(({ what }) => what === "effect").length,
  };
};
