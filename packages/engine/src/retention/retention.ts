// Retention: settled work older than a bound is forgotten, project by project, a few hundred rows per transaction, so
// that no lock is held for long. Each forgotten turn and direct call leaves a tombstone that says where its chain ended. Open calls of any
// age, and what open turns were given, are never touched.
//   Calls of agents' turns are deleted with their turns. Where only such calls are left, the next look continues behind them; from time
//   to time it starts at the beginning again, because some ids do not sort by time.

import { FORGET_TOMBSTONES } from "../history/tombstones.sql.ts";
import type { Clock } from "../ports/clock.ts";
import type { Faults } from "../ports/faults.ts";
import { oldestUuidOf } from "../ports/ids.ts";
import { FORGET_SESSIONS } from "../sessions/sessions.sql.ts";
import type { Database, Statement } from "../sql/database.ts";
import { FORGET_TASK_AGENTS, HOLD_TASK_AGENTS, type LookedAgentRow } from "./forget-agents.sql.ts";
import { FORGET_BATCHES } from "./forget-batches.sql.ts";
import { FORGET_TURNS, type NeededRow, READ_NEEDED } from "./forget-turns.sql.ts";
import { ALL_PROJECTS, FORGET_CALLS, FORGET_DEAD, type ForgottenRow } from "./retention.sql.ts";

export interface RetentionPolicy {
  /** Settled work older than this is deleted; Infinity: none is. */
  readonly seconds: number;
  /** Other bounds for some projects. */
  readonly projects?: ReadonlyMap<string, number> | undefined;
}

export interface Forgotten {
  readonly calls: number;
  readonly deadLetters: number;
  readonly sessions: number;
  readonly turns: number;
  readonly batches: number;
  /** Agents that were made for a task of which nothing is left. */
  readonly agents: number;
  /** What was left of turns and calls that were forgotten long ago. */
  readonly tombstones: number;
}

// Small enough to stay far below any lock timeout, large enough to be worth a commit.
const BATCH = 500;
/** A turn is deleted with all its cards, calls and boxes. */
const TURN_BATCH = 50;
const AGENT_BATCH = 200;
/** Each was given a box of cards, mostly a few. */
const OPEN_BATCH = 200;
/** A tombstone is some 200 bytes; a busy plane leaves millions a month, and a history is asked for within a year or not at all. */
const TOMBSTONE_SECONDS = 365 * 86_400;
/** A call whose id sorts before its time (a caller may choose one) is forgotten at most this much later. */
const FROM_THE_BEGINNING_MS = 3_600_000;

export const createRetention = (deps: { readonly db: Database; readonly clock: Clock; readonly faults: Faults }) => {
  /** Per project: up to here there are no direct calls left. */
  const passed = new Map<string, string>();
  let beganMs = deps.clock.now();

  // The id is only a hint where to look; the database's own clock decides.
  const newestOf = (seconds: number): string =>
    oldestUuidOf(Math.max(0, Math.trunc(deps.clock.now() - seconds * 1000) + 1));

  const forgetCalls = async (projectId: string, seconds: number): Promise<number> => {
    const newest = newestOf(seconds);
    let after = passed.get(projectId) ?? "";
    let isAllPassed = true;
    let total = 0;
    for (;;) {
      await deps.faults.at("retain:before-commit");
      const [row] = await deps.db.query<ForgottenRow>(FORGET_CALLS, [projectId, newest, seconds, BATCH, after]);
      await deps.faults.at("retain:after-commit");
      if (row === undefined || row.last === null) return total;
      total += row.forgotten;
      after = row.last;
      if (row.kept !== null) isAllPassed = false;
      if (isAllPassed) passed.set(projectId, after);
      if (row.looked < BATCH) return total;
    }
  };

  const drain = async (
    statement: Statement,
    projectId: string,
    prefix: string,
    seconds: number,
    { batch = BATCH, more = [] }: { readonly batch?: number; readonly more?: readonly unknown[] } = {},
  ): Promise<number> => {
    const newest = `${prefix}${newestOf(seconds)}`;
    let total = 0;
    for (;;) {
      await deps.faults.at("retain:before-commit");
      const [row] = await deps.db.query<{ forgotten: number }>(statement, [projectId, newest, seconds, batch, ...more]);
      await deps.faults.at("retain:after-commit");
      total += row?.forgotten ?? 0;
      if ((row?.forgotten ?? 0) < batch) return total;
    }
  };

  const forgetTombstones = async (): Promise<number> => {
    let total = 0;
    for (;;) {
      const [row] = await deps.db.query<{ forgotten: number }>(FORGET_TOMBSTONES, [TOMBSTONE_SECONDS, BATCH]);
      total += row?.forgotten ?? 0;
      if ((row?.forgotten ?? 0) < BATCH) return total;
    }
  };

  const forgetTurns = async (projectId: string, seconds: number): Promise<number> => {
    const newest = `turn_${newestOf(seconds)}`;
    const needed = new Set<string>();
    let after = "";
    for (;;) {
      const [row] = await deps.db.query<NeededRow>(READ_NEEDED, [projectId, newest, seconds, OPEN_BATCH, after]);
      for (const agentTurnId of row?.needed ?? []) needed.add(agentTurnId);
      if (row === undefined || row.last === null || row.looked < OPEN_BATCH) break;
      after = row.last;
    }
    return drain(FORGET_TURNS, projectId, "turn_", seconds, { batch: TURN_BATCH, more: [[...needed]] });
  };

  // Page by page. An agent that owned one of these is deleted the next time.
  const forgetAgents = async (projectId: string, seconds: number): Promise<number> => {
    let total = 0;
    let before: readonly [string | null, string] = [null, ""];
    for (;;) {
      const page = await deps.db.transaction(async (tx) => {
        const looked = await tx.query<LookedAgentRow>(HOLD_TASK_AGENTS, [projectId, seconds, ...before, AGENT_BATCH]);
        const held = looked.filter(({ held }) => held).map(({ agent_id }) => agent_id);
        const [row] =
          held.length === 0 ? [] : await tx.query<{ forgotten: number }>(FORGET_TASK_AGENTS, [projectId, held]);
        await deps.faults.at("retain:before-commit");
        return { looked, forgotten: row?.forgotten ?? 0 };
      });
      await deps.faults.at("retain:after-commit");
      total += page.forgotten;
      const last = page.looked.at(-1);
      if (last === undefined || page.looked.length < AGENT_BATCH) return total;
      before = [last.created_at, last.agent_id];
    }
  };

  return async (policy: RetentionPolicy, projectId?: string): Promise<Forgotten> => {
    const projects =
      projectId === undefined
        ? (await deps.db.query<{ project_id: string }>(ALL_PROJECTS)).map((row) => row.project_id)
        : [projectId];
    let calls = 0;
    let deadLetters = 0;
    let sessions = 0;
    let turns = 0;
    let batches = 0;
    let agents = 0;
    if (deps.clock.now() - beganMs > FROM_THE_BEGINNING_MS) {
      passed.clear();
      beganMs = deps.clock.now();
    }
    for (const project of projects) {
      const seconds = policy.projects?.get(project) ?? policy.seconds;
      if (seconds === Number.POSITIVE_INFINITY) continue;
      calls += await forgetCalls(project, seconds);
      deadLetters += await drain(FORGET_DEAD, project, "dead_", seconds);
      sessions += await drain(FORGET_SESSIONS, project, "", seconds);
      turns += await forgetTurns(project, seconds);
      batches += await drain(FORGET_BATCHES, project, "batch_", seconds);
      agents += await forgetAgents(project, seconds);
    }
    return { calls, deadLetters, sessions, turns, batches, agents, tombstones: await forgetTombstones() };
  };
};
