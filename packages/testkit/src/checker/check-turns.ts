// A turn that was begun has ended once, with one deliverable and one event. Its step is complete or absent; each settled call of
// the step was in the inbox once, with its result, and was read. No agent is left in a turn.

import type { Facts } from "./facts.ts";
import { type Found, groupBy } from "./findings.ts";
import type { CallRow, TurnRow } from "./tables.ts";

/** A result and a timeout answer the same call, so they are compared as one. */
const RESULTS: ReadonlySet<string> = new Set(["tool_result", "timeout"]);

const checkInbox = (facts: Facts): Found => {
  const results = facts.tables.inbox.filter((row) => RESULTS.has(row.message_type));
  const rows = groupBy(results, (row) => row.correlation_id);
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
  const strangers = results
    .filter((row) => !facts.calls.has(row.correlation_id))
    .map((row) => ["orphaned", `an inbox row tells of ${row.correlation_id}, which is not there`] as const);
  const unread = facts.tables.inbox
    .filter(({ archived }) => !archived)
    .map((row) => ["stuck", `the ${row.message_type} row ${row.correlation_id} of ${row.agent_id} waits`] as const);
  return [...ofCalls, ...strangers, ...unread];
};

const checkSteps = (facts: Facts): Found => {
  const stepName = (row: { project_id: string; agent_id: string; step_id: string }): string =>
    `${row.project_id}/${row.agent_id}/${row.step_id}`;
  const ofAgents = facts.tables.calls.filter((call) => !call.headless);
  const calls = groupBy(ofAgents, stepName);
  const steps = new Map(facts.tables.steps.map((step) => [stepName(step), step]));
  const found: (readonly ["lost" | "doubled" | "orphaned" | "stuck", string])[] = [];
  for (const [name, step] of steps) {
    const ids = new Set((calls.get(name) ?? []).map((call: CallRow) => call.tool_call_id));
    for (const id of step.tool_call_ids) if (!ids.delete(id)) found.push(["lost", `step ${name} has no call ${id}`]);
    for (const id of ids) found.push(["doubled", `step ${name} does not know its call ${id}`]);
    if (!step.ended) found.push(["stuck", `step ${name} has not ended`]);
  }
  for (const name of calls.keys()) if (!steps.has(name)) found.push(["orphaned", `calls of ${name} have no step`]);
  for (const call of ofAgents)
    if (call.settled && call.result_chain_seq === null)
      found.push(["lost", `the result of ${call.tool_call_id} was never read by its agent`]);
  return found;
};

const checkSpawned = (facts: Facts): Found => {
  const turns = new Set(facts.tables.turns.map(({ agent_turn_id }) => agent_turn_id));
  return [...groupBy(facts.lines("spawned"), ({ item }) => item)].flatMap(([item, lines]): Found => {
    const ids = [...new Set(lines.map(({ turn }) => turn))];
    if (ids.length > 1) return [["doubled", `${item} was accepted as turns ${ids.join(" and ")}`]];
    return ids.flatMap(
      (id): Found => (turns.has(id) ? [] : [["lost", `${item} was accepted as ${id}, which is gone`]]),
    );
  });
};

const checkEnds = (facts: Facts): Found => {
  const deliverables = groupBy(
    facts.tables.cards.filter(({ type }) => type === "task.deliverable"),
    (card) => card.agent_turn_id ?? "",
  );
  // With the postgres bus events stay in the log; an external bus has them.
  const told = new Set<string | null>(
    facts.carrier === "postgres"
      ? facts.tables.messages.map((message) => message.message_id)
      : facts.lines("handled").map(({ message }) => message),
  );
  const acknowledged = groupBy(facts.lines("finished"), ({ turn }) => turn);
  return facts.tables.turns.flatMap((turn: TurnRow): Found => {
    const id = turn.agent_turn_id;
    if (!turn.ended) return [["stuck", `turn ${id} of ${turn.agent_id} has not ended`]];
    const found: (readonly ["lost" | "doubled" | "broken" | "surprising", string])[] = [];
    if (turn.status !== "success") found.push(["surprising", `turn ${id} ended as ${turn.status}`]);
    const mine = deliverables.get(id) ?? [];
    if (mine.length === 0) found.push(["lost", `turn ${id} has no deliverable`]);
    if (mine.length > 1) found.push(["doubled", `turn ${id} has ${mine.length} deliverables`]);
    if (mine.length === 1 && mine[0]?.card_id !== turn.deliverable_card_id)
      found.push(["broken", `turn ${id} names another deliverable than it has`]);
    if (!told.has(`${id}:task`)) found.push(["lost", `nobody was told that turn ${id} ended`]);
    for (const { card } of acknowledged.get(id) ?? [])
      if (card !== turn.deliverable_card_id)
        found.push(["lost", `the end of ${id} was acknowledged with ${card}, not ${turn.deliverable_card_id}`]);
    return found;
  });
};

const checkHeads = (facts: Facts): Found =>
  facts.tables.heads.map((head) => ["stuck", `${head.agent_id} is ${head.status} in ${head.active_agent_turn_id}`]);

export const checkTurns = (facts: Facts): Found =>
  [checkInbox, checkSteps, checkSpawned, checkEnds, checkHeads].flatMap((check) => [...check(facts)]);
