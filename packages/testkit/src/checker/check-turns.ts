// An agent's step is all or nothing; each of its settled calls is in the inbox once, with the result it has; every
// suspended head waits for exactly the calls of its step.

import type { Facts } from "./facts.ts";
import { type Found, groupBy } from "./findings.ts";
import type { CallRow } from "./tables.ts";

const checkInbox = (facts: Facts): Found => {
  const rows = groupBy(facts.tables.inbox, (row) => row.correlation_id);
  const ofCalls = facts.tables.calls.flatMap((call): Found => {
    const mine = rows.get(call.tool_call_id) ?? [];
    const wanted = call.headless || !call.settled ? 0 : 1;
    if (mine.length > wanted) return [["doubled", `call ${call.tool_call_id} is in the inbox ${mine.length} times`]];
    if (mine.length < wanted) return [["lost", `call ${call.tool_call_id} has settled and its agent was not told`]];
    return mine
      .filter(({ payload }) => {
        const said = JSON.parse(payload) as { tool_result_card_id: string; status: string };
        return said.tool_result_card_id !== call.result_card_id || said.status !== call.status;
      })
      .map(() => ["broken", `the inbox tells another result of ${call.tool_call_id} than the call has`]);
  });
  const strangers = facts.tables.inbox
    .filter((row) => !facts.calls.has(row.correlation_id))
    .map((row) => ["orphaned", `an inbox row tells of ${row.correlation_id}, which is not there`] as const);
  return [...ofCalls, ...strangers];
};

const checkSteps = (facts: Facts): Found => {
  const stepName = (row: { project_id: string; agent_id: string; step_id: string }): string =>
    `${row.project_id}/${row.agent_id}/${row.step_id}`;
  const ofAgents = facts.tables.calls.filter((call) => !call.headless);
  const calls = groupBy(ofAgents, stepName);
  const steps = new Map(facts.tables.steps.map((step) => [stepName(step), step]));
  const found: (readonly ["lost" | "doubled" | "orphaned", string])[] = [];
  for (const [name, step] of steps) {
    const ids = new Set((calls.get(name) ?? []).map((call: CallRow) => call.tool_call_id));
    for (const id of step.tool_call_ids) if (!ids.delete(id)) found.push(["lost", `step ${name} has no call ${id}`]);
    for (const id of ids) found.push(["doubled", `step ${name} does not know its call ${id}`]);
  }
  for (const name of calls.keys()) if (!steps.has(name)) found.push(["orphaned", `calls of ${name} have no step`]);
  for (const head of facts.tables.heads) {
    const waitsFor = ofAgents.filter((call) => call.agent_turn_id === head.active_agent_turn_id).length;
    const expected = head.status === "suspended" ? waitsFor : 0;
    if (head.waiting_tool_count !== expected || (head.status !== "suspended" && waitsFor > 0))
      found.push([
        "orphaned",
        `${head.agent_id} is ${head.status}, waits for ${head.waiting_tool_count} of ${waitsFor}`,
      ]);
  }
  return found;
};

export const checkTurns = (facts: Facts): Found => [...checkInbox(facts), ...checkSteps(facts)];
