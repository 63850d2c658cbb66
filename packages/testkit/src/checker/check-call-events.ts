// What was told of each call: that it was dispatched, first and once; its leases, each followed by a retry or by the end; and how it
// ended, last and once, in the words that fit the call. A call that is open has no end.

import type { Facts } from "./facts.ts";
import { type Fault, type Found, groupBy } from "./findings.ts";
import type { CallRow } from "./tables.ts";

const ENDS: ReadonlySet<string> = new Set(["settled", "canceled", "dead"]);

/** A command that was sent to a service that never leases is told as a lease of attempt 0. */
const SENT = "leased 0";

/** Which phase may follow which. */
const NEXT: ReadonlyMap<string, readonly string[]> = new Map([
  ["", ["dispatched"]],
  ["dispatched", ["approval_wanted", "leased", SENT, "settled", "canceled", "dead"]],
  ["approval_wanted", ["approval_decided", "settled", "canceled", "dead"]],
  ["approval_decided", ["leased", SENT, "settled", "canceled", "dead"]],
  ["leased", ["retried", "settled", "canceled", "dead"]],
  [SENT, ["leased", "retried", "settled", "canceled", "dead"]],
  ["retried", ["leased", SENT, "settled", "canceled", "dead"]],
]);

const nameOf = (row: { readonly project_id: string; readonly tool_call_id: string }): string =>
  `${row.project_id}/${row.tool_call_id}`;

const endOf = (call: CallRow, isDead: boolean): string =>
  isDead ? "dead" : call.status === "canceled" ? "canceled" : "settled";

const faultsOf = (call: CallRow, phases: readonly string[], isDead: boolean): Found => {
  const told = `call ${call.tool_call_id} (${call.status}) is told as ${phases.join(", ") || "nothing"}`;
  const found: (readonly [Fault, string])[] = [];
  const ends = phases.filter((phase) => ENDS.has(phase));
  const begins = phases.filter((phase) => phase === "dispatched");
  if (begins.length === 0 || (call.settled && ends.length === 0)) found.push(["lost", told]);
  if (begins.length > 1 || ends.length > 1) found.push(["doubled", told]);
  if (!call.settled && ends.length > 0) found.push(["surprising", told]);
  const isInOrder = phases.every((phase, place) => NEXT.get(phases[place - 1] ?? "")?.includes(phase) === true);
  if (!isInOrder) found.push(["surprising", told]);
  const [end] = ends;
  if (call.settled && end !== undefined && end !== endOf(call, isDead)) found.push(["surprising", told]);
  return found;
};

export const checkCallEvents = (facts: Facts): Found => {
  const { calls, callEvents, deadLetters } = facts.tables;
  const told = groupBy(callEvents, nameOf);
  const dead = new Set(
    deadLetters
      .filter(({ kind }) => kind === "call")
      .map((row) => nameOf({ ...row, tool_call_id: row.tool_call_id ?? "" })),
  );
  const known = new Set(calls.map(nameOf));
  const orphans = [...told].filter(
    ([name, [event]]) => !known.has(name) && !facts.forgotten.has(event?.project_id ?? ""),
  );
  return [
    ...calls.flatMap((call) =>
      faultsOf(
        call,
        (told.get(nameOf(call)) ?? []).map(({ phase, attempt }) =>
          phase === "leased" && attempt === 0 ? SENT : phase,
        ),
        dead.has(nameOf(call)),
      ),
    ),
    ...orphans.map(([name]) => ["orphaned", `events tell of ${name}, and there is no such call`] as const),
  ];
};
