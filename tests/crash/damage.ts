// Ways to damage the tables of a sound run, one at a time, and what the checker must call each.

import type { Findings, JournalLine, Tables } from "@toolplane/testkit";

type Rows = { -readonly [Name in keyof Tables]: Tables[Name][number] };

/** A sound run, and the means to damage a copy of its tables. */
export interface World {
  readonly tables: Tables;
  callOf(item: string): string;
  isCallOf(item: string): (row: { readonly tool_call_id: string | null }) => boolean;
  /** The tables with the first row that is wanted replaced by what `change` makes of it. */
  damage<Name extends keyof Tables>(
    name: Name,
    wanted: (row: Rows[Name]) => boolean,
    change: (row: Rows[Name]) => Rows[Name][],
  ): Tables;
}

export const createWorld = (tables: Tables, lines: readonly JournalLine[]): World => {
  const callOf = (item: string): string => {
    const found = lines.find((line) => line.what === "accepted" && line.item.startsWith(item));
    return found?.what === "accepted" ? found.call : "";
  };
  return {
    tables,
    callOf,
    isCallOf: (item) => (row) => row.tool_call_id === callOf(item),
    damage: (name, wanted, change) => {
      const rows = [...tables[name]] as Rows[typeof name][];
      const index = rows.findIndex(wanted);
      const row = rows[index];
      if (row === undefined) throw new RangeError(`no row of ${name} to damage`);
      return { ...tables, [name]: [...rows.slice(0, index), ...change(row), ...rows.slice(index + 1)] };
    },
  };
};

const drop = (): never[] => [];
const twice = <Row>(row: Row): Row[] => [row, row];
const any = (): boolean => true;
const isResult = (row: { readonly message_type: string }): boolean => row.message_type === "tool_result";
const hasCalls = (row: { readonly tool_call_ids: readonly string[] }): boolean => row.tool_call_ids.length > 0;
const isDeliverable = (row: { readonly type: string }): boolean => row.type === "task.deliverable";

export const DAMAGES: [string, keyof Findings, (world: World) => Tables][] = [
  ["an accepted call that is gone", "lost", (world) => world.damage("calls", world.isCallOf("safe"), drop)],
  ["a call that is live and past at once", "doubled", (world) => world.damage("calls", world.isCallOf("safe"), twice)],
  [
    "a call that is still open",
    "stuck",
    (world) => world.damage("calls", world.isCallOf("safe"), (row) => [{ ...row, settled: false }]),
  ],
  [
    "an open call nobody will look at",
    "orphaned",
    (world) =>
      world.damage("calls", any, (row) => [
        { ...row, settled: false, status: "queued", lease_id: null, watched: false },
      ]),
  ],
  [
    "a running call without a lease",
    "orphaned",
    (world) =>
      world.damage("calls", any, (row) => [
        { ...row, settled: false, status: "running", lease_id: null, watched: true },
      ]),
  ],
  [
    "a settled call that is still watched",
    "orphaned",
    (world) => world.damage("calls", any, (row) => [{ ...row, watched: true }]),
  ],
  [
    "a settled call without a result",
    "lost",
    (world) => world.damage("calls", any, (row) => [{ ...row, result_card_id: null }]),
  ],
  [
    "an acknowledged result that was replaced",
    "lost",
    (world) =>
      world.damage("calls", world.isCallOf("unsafe"), (row) => [
        {
          ...row,
          result_card_id:
            world.tables.calls.find((other) => other.tool_call_id !== row.tool_call_id)?.result_card_id ?? null,
        },
      ]),
  ],
  [
    "an acknowledged cancellation that did not last",
    "lost",
    (world) => world.damage("calls", world.isCallOf("cancel"), (row) => [{ ...row, status: "timeout" }]),
  ],
  [
    "an end that cannot be",
    "surprising",
    (world) => world.damage("calls", world.isCallOf("timeout"), (row) => [{ ...row, error_code: "denied" }]),
  ],
  [
    "two calls of one key",
    "doubled",
    (world) => world.damage("calls", world.isCallOf("keyed"), (row) => [row, { ...row, tool_call_id: "another" }]),
  ],
  ["a key that is free again", "lost", (world) => world.damage("keys", any, drop)],
  [
    "a key that outlived its call",
    "orphaned",
    (world) => world.damage("keys", any, (row) => [row, { ...row, idempotency_key: "another" }]),
  ],
  [
    "a second result card",
    "doubled",
    (world) =>
      world.damage(
        "cards",
        (row) => row.type === "tool.result" && !row.candidate,
        (row) => [row, { ...row, card_id: "another" }],
      ),
  ],
  ["a result card that is gone", "lost", (world) => world.damage("cards", (row) => row.type === "tool.result", drop)],
  ["a call card that is gone", "lost", (world) => world.damage("cards", (row) => row.type === "tool.call", drop)],
  [
    "a card of no call",
    "orphaned",
    (world) => world.damage("cards", any, (row) => [row, { ...row, card_id: "another", tool_call_id: "none" }]),
  ],
  [
    "one byte of a card",
    "broken",
    (world) =>
      world.damage("cards", any, (row) => [{ ...row, body: row.body.replace("tool_call_id", "tool_call_iD") }]),
  ],
  [
    "a card whose column differs",
    "broken",
    (world) => world.damage("cards", any, (row) => [{ ...row, author_id: "sys.other" }]),
  ],
  [
    "a call that cites another card",
    "broken",
    (world) => world.damage("calls", any, (row) => [{ ...row, call_card_hash: "0" }]),
  ],
  ["a result hash", "broken", (world) => world.damage("calls", any, (row) => [{ ...row, result_hash: "0" }])],
  [
    "a status its card does not have",
    "broken",
    (world) => world.damage("calls", world.isCallOf("safe"), (row) => [{ ...row, status: "partial" }]),
  ],
  [
    "a chain link",
    "broken",
    (world) =>
      world.damage(
        "cards",
        (row) => row.chain_seq === 2,
        (row) => [{ ...row, chain_hash: "0" }],
      ),
  ],
  ["a gap in a chain", "broken", (world) => world.damage("cards", (row) => row.chain_seq === 2, drop)],
  [
    "a turn that cites another chain",
    "broken",
    (world) => world.damage("turns", any, (row) => [{ ...row, chain_hash: "0" }]),
  ],
  [
    "a task that was asked otherwise",
    "broken",
    (world) => world.damage("turns", any, (row) => [{ ...row, payload: "{}x" }]),
  ],
  [
    "a direct call that cites another end",
    "broken",
    (world) => world.damage("calls", world.isCallOf("safe"), (row) => [{ ...row, result_chain_hash: "0" }]),
  ],
  [
    "a result read at another place",
    "broken",
    (world) =>
      world.damage(
        "calls",
        (row) => row.result_chain_seq !== null,
        (row) => [{ ...row, result_chain_seq: 1 }],
      ),
  ],
  [
    "a result never read",
    "lost",
    (world) =>
      world.damage(
        "calls",
        (row) => !row.headless,
        (row) => [{ ...row, result_chain_seq: null }],
      ),
  ],
  ["a result told twice", "doubled", (world) => world.damage("inbox", isResult, twice)],
  ["a result not told", "lost", (world) => world.damage("inbox", isResult, drop)],
  ["an inbox row that waits", "stuck", (world) => world.damage("inbox", any, (row) => [{ ...row, archived: false }])],
  [
    "another result told",
    "broken",
    (world) =>
      world.damage("inbox", isResult, (row) => [{ ...row, payload: '{"tool_result_card_id":"x","status":"success"}' }]),
  ],
  [
    "an inbox row of no call",
    "orphaned",
    (world) => world.damage("inbox", isResult, (row) => [row, { ...row, correlation_id: "none" }]),
  ],
  ["a step that lost a call", "lost", (world) => world.damage("calls", (row) => !row.headless, drop)],
  [
    "a step dispatched twice",
    "doubled",
    (world) => world.damage("steps", hasCalls, (row) => [{ ...row, tool_call_ids: row.tool_call_ids.slice(1) }]),
  ],
  ["a step that is open", "stuck", (world) => world.damage("steps", any, (row) => [{ ...row, ended: false }])],
  ["calls without a step", "orphaned", (world) => world.damage("steps", hasCalls, drop)],
  ["a turn that is gone", "lost", (world) => world.damage("turns", any, drop)],
  ["a turn that is open", "stuck", (world) => world.damage("turns", any, (row) => [{ ...row, ended: false }])],
  ["a turn that failed", "surprising", (world) => world.damage("turns", any, (row) => [{ ...row, status: "failed" }])],
  ["a deliverable that is gone", "lost", (world) => world.damage("cards", isDeliverable, drop)],
  [
    "a second deliverable",
    "doubled",
    (world) => world.damage("cards", isDeliverable, (row) => [row, { ...row, card_id: "another", chain_seq: null }]),
  ],
  [
    "another deliverable than was acknowledged",
    "lost",
    (world) => world.damage("turns", any, (row) => [{ ...row, deliverable_card_id: "another" }]),
  ],
  [
    "an end nobody was told of",
    "lost",
    (world) => world.damage("messages", (row) => row.message_id?.endsWith(":task") === true, drop),
  ],
  [
    "an agent that is still in a turn",
    "stuck",
    (world) => ({
      ...world.tables,
      heads: [{ project_id: "crash", agent_id: "agent_1", status: "suspended", active_agent_turn_id: "turn_1" }],
    }),
  ],
  ["a missing dead letter", "lost", (world) => world.damage("deadLetters", any, drop)],
  ["a second dead letter", "doubled", (world) => world.damage("deadLetters", any, twice)],
  [
    "a dead letter of no call",
    "orphaned",
    (world) => world.damage("deadLetters", any, (row) => [row, { ...row, tool_call_id: "none" }]),
  ],
  [
    "a message that was given up",
    "lost",
    (world) => world.damage("deadLetters", any, (row) => [row, { ...row, kind: "message" }]),
  ],
  [
    "a replay that is not noted",
    "lost",
    (world) =>
      world.damage(
        "deadLetters",
        (row) => row.replayed_as !== null,
        (row) => [{ ...row, replayed_as: null }],
      ),
  ],
  [
    "a letter replayed as two calls",
    "doubled",
    (world) =>
      world.damage(
        "calls",
        (row) => row.retry_of !== null,
        (row) => [row, { ...row, tool_call_id: "another" }],
      ),
  ],
  [
    "a command that did not leave",
    "unsent",
    (world) => world.damage("messages", any, (row) => [row, { ...row, category: "cmd" }]),
  ],
  [
    "a call that nothing was told of",
    "lost",
    (world) => world.damage("callEvents", (row) => row.phase === "dispatched", drop),
  ],
  ["an end that was not told", "lost", (world) => world.damage("callEvents", (row) => row.phase === "settled", drop)],
  [
    "an end that was told twice",
    "doubled",
    (world) =>
      world.damage(
        "callEvents",
        (row) => row.phase === "settled",
        (row) => [row, row],
      ),
  ],
  [
    "a lease after the end",
    "surprising",
    (world) =>
      world.damage(
        "callEvents",
        (row) => row.phase === "settled",
        (row) => [row, { ...row, phase: "leased" }],
      ),
  ],
  [
    "a cancellation told as a result",
    "surprising",
    (world) =>
      world.damage(
        "callEvents",
        (row) => row.phase === "canceled",
        (row) => [{ ...row, phase: "settled" }],
      ),
  ],
  [
    "an event about no call",
    "orphaned",
    (world) => world.damage("callEvents", any, (row) => [row, { ...row, tool_call_id: "nobody" }]),
  ],
];
