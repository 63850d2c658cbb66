// Every accepted call is stored and has settled once, in a way its kind can end; every acknowledgement still holds; a tool that
// may not run twice did not.

import type { Facts } from "./facts.ts";
import { type Found, groupBy } from "./findings.ts";
import type { CallRow, KeyRow } from "./tables.ts";

const outcomeOf = (call: CallRow): string =>
  call.error_code === null ? call.status : `${call.status}/${call.error_code}`;

const checkAccepted = (facts: Facts): Found => {
  const accepted = facts.lines("accepted");
  const lost = accepted
    .filter(({ call, project }) => !facts.calls.has(call) && !facts.forgotten.has(project))
    .map(({ item, call }) => ["lost", `${item} was accepted as ${call}, and there is no such call`] as const);
  const doubled = [...groupBy(accepted, ({ item }) => item)]
    .map(([item, lines]) => [item, new Set(lines.map(({ call }) => call))] as const)
    .filter(([, calls]) => calls.size > 1)
    .map(([item, calls]) => ["doubled", `${item} was accepted as ${[...calls].join(" and ")}`] as const);
  const surprising = accepted.flatMap(({ item, call: id, outcomes }) => {
    const call = facts.calls.get(id);
    if (call === undefined || !call.settled || outcomes.includes(outcomeOf(call))) return [];
    return [["surprising", `${item} (${id}) ended as ${outcomeOf(call)}`] as const];
  });
  return [...lost, ...doubled, ...surprising];
};

const checkAcknowledged = (facts: Facts): Found => {
  const reported = facts.lines("reported");
  const found: (readonly ["lost" | "doubled", string])[] = [];
  for (const { call: id, card, status } of reported) {
    const call = facts.calls.get(id);
    if (call !== undefined && (call.result_card_id !== card || call.status !== status))
      found.push([
        "lost",
        `the result ${card} (${status}) of ${id} was acknowledged; the call says ${call.result_card_id}`,
      ]);
  }
  for (const [id, lines] of groupBy(reported, ({ call }) => call)) {
    const cards = new Set(lines.map(({ card }) => card));
    if (cards.size > 1) found.push(["doubled", `results ${[...cards].join(" and ")} of ${id} were both acknowledged`]);
  }
  for (const { call: id } of facts.lines("canceled")) {
    const status = facts.calls.get(id)?.status;
    if (status !== "canceled") found.push(["lost", `the cancellation of ${id} was acknowledged; it is ${status}`]);
  }
  return found;
};

const checkEffects = (facts: Facts): Found => {
  const effects = groupBy(facts.lines("effect"), ({ call }) => call);
  const found: (readonly ["doubled" | "surprising", string])[] = [];
  for (const call of facts.tables.calls) {
    const times = effects.get(call.tool_call_id)?.length ?? 0;
    if (!call.retry_safe && times > 1)
      found.push(["doubled", `${call.tool_name} (${call.tool_call_id}) is not safe to repeat and ran ${times} times`]);
    if (call.status === "success" && times === 0)
      found.push(["surprising", `${call.tool_name} (${call.tool_call_id}) succeeded and never ran`]);
  }
  return found;
};

const checkStates = (facts: Facts): Found =>
  facts.tables.calls.flatMap((call): Found => {
    const name = `${call.tool_name} (${call.tool_call_id})`;
    if (call.settled) {
      if (call.watched) return [["orphaned", `${name} has settled and a watchdog still looks at it`]];
      return call.result_card_id === null ? [["lost", `${name} has settled without a result`]] : [];
    }
    const found: (readonly ["stuck" | "orphaned", string])[] = [["stuck", `${name} is ${call.status}`]];
    if (!call.watched) found.push(["orphaned", `${name} is ${call.status} and no watchdog will look at it`]);
    if ((call.status === "running") !== (call.lease_id !== null))
      found.push(["orphaned", `${name} is ${call.status} with lease ${call.lease_id}`]);
    return found;
  });

/** Each of the two tables, live and past, holds a call at most once; but both together could hold it twice. */
const checkPlaces = (facts: Facts): Found =>
  [...groupBy(facts.tables.calls, ({ project_id, tool_call_id }) => `${project_id}/${tool_call_id}`)]
    .filter(([, calls]) => calls.length > 1)
    .map(([call, calls]) => ["doubled", `${call} is there ${calls.length} times`]);

/** A key lives as long as its call: neither may exist without the other. */
const checkKeys = (facts: Facts): Found => {
  const keyed = facts.tables.calls.filter((call) => call.idempotency_key !== null);
  const scope = (row: CallRow | KeyRow): string =>
    JSON.stringify([row.project_id, row.agent_id, row.tool_name, row.idempotency_key]);
  const holding = (row: CallRow | KeyRow): string => `${scope(row)} of ${row.tool_call_id}`;
  const held = new Set(facts.tables.keys.map(holding));
  const carried = new Set(keyed.map(holding));
  return [
    ...[...groupBy(keyed, scope)]
      .filter(([, calls]) => calls.length > 1)
      .map(([key, calls]) => ["doubled", `key ${key} has ${calls.length} calls`] as const),
    ...[...carried].filter((key) => !held.has(key)).map((key) => ["lost", `nobody holds key ${key}`] as const),
    ...[...held].filter((key) => !carried.has(key)).map((key) => ["orphaned", `no call carries key ${key}`] as const),
  ];
};

export const checkCalls = (facts: Facts): Found => [
  ...checkAccepted(facts),
  ...checkAcknowledged(facts),
  ...checkEffects(facts),
  ...checkStates(facts),
  ...checkPlaces(facts),
  ...checkKeys(facts),
];
