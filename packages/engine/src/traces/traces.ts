// A trace: everything that came of one request. Its turns with the turns they started, their steps, and all their calls.

import type { CallView } from "../calls/call.ts";
import type { Calls } from "../calls/calls.ts";
import { DIRECT_OF_TRACE } from "../calls/list-calls.sql.ts";
import { isTraceId } from "../calls/list-calls.ts";
import { isPossibleId } from "../cards/possible-id.ts";
import type { Queryer } from "../sql/database.ts";
import type { StepView, Turns, TurnView } from "../turns/turn.ts";
import { CALLS_OF_TURNS, FIND_TURNS } from "./traces.sql.ts";

export interface Trace {
  readonly turns: readonly TurnView[];
  readonly steps: readonly StepView[];
  readonly calls: readonly CallView[];
  /** There is more than is shown. */
  readonly isCut: boolean;
}

export interface Traces {
  read(projectId: string, traceId: string): Promise<Trace>;
}

/** More than a person reads, and an answer of a few megabytes. */
const MAX_TURNS = 200;
const MAX_CALLS = 1_000;

export const createTraces = (deps: {
  readonly db: Queryer;
  readonly calls: Pick<Calls, "find">;
  readonly turns: Pick<Turns, "get" | "steps">;
}): Traces => {
  const { db } = deps;
  const idsOf = async (
    statement: typeof FIND_TURNS,
    values: readonly unknown[],
    key: "agent_turn_id" | "tool_call_id",
  ): Promise<readonly string[]> =>
    (await db.query<Record<string, string>>(statement, values)).map((row) => row[key] ?? "");

  return {
    async read(projectId, traceId) {
      if (!isPossibleId(projectId) || !isTraceId(traceId)) return { turns: [], steps: [], calls: [], isCut: false };
      const turnIds = await idsOf(FIND_TURNS, [projectId, traceId, MAX_TURNS + 1], "agent_turn_id");
      const shown = turnIds.slice(0, MAX_TURNS);
      const callIds = [
        ...(await idsOf(CALLS_OF_TURNS, [projectId, shown, MAX_CALLS + 1], "tool_call_id")),
        ...(await idsOf(DIRECT_OF_TRACE, [projectId, traceId, MAX_CALLS + 1], "tool_call_id")),
      ];
      const views = await Promise.all(shown.map((agentTurnId) => deps.turns.get({ projectId, agentTurnId })));
      const turns = views.filter((view) => view !== undefined);
      const steps = await Promise.all(turns.map((turn) => deps.turns.steps(turn)));
      const wanted = callIds.slice(0, MAX_CALLS).map((toolCallId) => ({ projectId, toolCallId }));
      return {
        turns,
        steps: steps.flat(),
        calls: await deps.calls.find(wanted),
        isCut: turnIds.length > MAX_TURNS || callIds.length > MAX_CALLS,
      };
    },
  };
};
