// Plans that look like whole scans and are not long, or not hot, each with its reason. One that no plan needs any more
// fails the test.

export interface AllowedScan {
  readonly statement: string;
  readonly scan: string;
  /** What an older server may do instead. */
  readonly or?: string;
  readonly reason: string;
}

export const ALLOWED_SCANS: readonly AllowedScan[] = [
  {
    statement: "calls.end",
    scan: "Seq Scan of carrier by nothing",
    reason: "the table has one row: which bus carries the messages",
  },
  {
    statement: "carrier_make_unsent_due",
    scan: "Seq Scan of live_calls by nothing",
    reason: "live calls only, up to a limit; when a process starts with a bus beside the database",
  },
  {
    statement: "calls.settle",
    scan: "Seq Scan of carrier by nothing",
    reason: "the table has one row: which bus carries the messages",
  },
  {
    statement: "batches.read-due",
    scan: "Index Scan of batches by batches_open",
    reason: "batches_open holds open batches only, soonest deadline first, up to a limit",
  },
  {
    statement: "carrier.drop-commands",
    scan: "Index Scan of messages by messages_commands",
    reason:
      "messages_commands holds commands only, and without a bus there are none but those left behind; once per start",
  },
  {
    statement: "delegation.count-open",
    scan: "Index Scan of batch_tasks by batch_tasks_due",
    reason: "batch_tasks_due holds tasks that wait to become turns only, up to a limit",
  },
  {
    statement: "webhooks.claim",
    scan: "Index Only Scan of webhook_deliveries by webhook_deliveries_lines",
    reason: "the first line: one row of the index of open deliveries; the further lines are found by their keys",
  },
  {
    statement: "bus_trim_events",
    scan: "Index Scan of messages by messages_events",
    reason: "the oldest events first, up to a limit",
  },
  {
    statement: "bus_trim_stream_items",
    scan: "Index Scan of stream_items by stream_items_order",
    reason: "the oldest items first, up to a limit",
  },
  {
    statement: "bus_trim_sent_events",
    scan: "Index Scan of sent_events by sent_events_pkey",
    reason: "the oldest events first, up to a limit",
  },
  {
    statement: "projects.sweep-bus.messages",
    scan: "Seq Scan of messages by nothing",
    reason: "deleting a project is rare and waits for nobody; an index for it would cost every message",
  },
  {
    statement: "retention.projects",
    scan: "Index Only Scan of projects by projects_pkey",
    reason: "all projects are wanted, once a minute",
  },
  {
    statement: "projects.list-unlimited",
    scan: "Index Scan of projects by projects_pkey",
    reason: "all projects are wanted, once when a process starts",
  },
  {
    statement: "tokens.list",
    scan: "Index Scan of tokens by tokens_pkey",
    reason: "all tokens are wanted, by a person",
  },
  {
    statement: "webhooks.read-readers",
    scan: "Index Scan of webhook_readers by webhook_readers_pkey",
    reason: "all readers are wanted: one row for each project that has webhooks",
  },
  {
    statement: "webhooks.drop-readers",
    scan: "Index Scan of webhook_readers by webhook_readers_pkey",
    or: "Seq Scan of webhook_readers by nothing",
    reason: "once a minute, over one row for each project that has or had webhooks",
  },
  {
    statement: "carrier.served-targets",
    scan: "Index Scan of attached_targets by attached_targets_pkey",
    reason: "all pairs that services take from NATS are wanted; there are as many as durables",
  },
  {
    statement: "carrier.served-targets",
    scan: "Index Only Scan of tools by tools_plain",
    reason: "tools_plain holds tools of plain services only, and all of their pairs are wanted",
  },
  {
    statement: "gates.count-open",
    scan: "Index Only Scan of live_calls by live_calls_pkey",
    reason: "live calls only, up to the limit of the plane; once a second",
  },
  {
    statement: "carrier.detach",
    scan: "Seq Scan of attached_targets by nothing",
    reason: "once a minute over the pairs that have a durable",
  },
];

const RUNS_OF_TARGET =
  "calls under a lease only, and only while the breaker of a target is open: as many as its project runs at once";
const HELD_SLOTS =
  "live_calls_gate_running holds running limited calls only; of the project's own gate all of them are counted";
const LIVE_CALLS = "live calls only";
const LIST = "a page of all a project has, in the order of the key, up to a limit";
const FEW_WEBHOOKS = "webhooks_of_project holds webhooks of projects only, and a project has at most fifty";
const ONE_WEBHOOK = "whether there is one: the first row answers";
const BY_HAND = "a person does it, rarely";
const LAST_EVENT = "the last event of the project: read from the end of the index, one row";
const OLD_READER = "a reader that comes back with an event id of an earlier version; once for each such reader";
const IN_SESSIONS = "live_calls_session_running holds running calls of sessions only";

/** Led by nothing but the project, for a reason. */
export const ALLOWED_PROJECT_SCANS: readonly AllowedScan[] = [
  { statement: "turns.list", scan: "Index Scan of turns by turns_pkey", reason: LIST },
  { statement: "dead.list", scan: "Index Scan of dead_letters by dead_letters_pkey", reason: LIST },
  {
    statement: "stats.open-breakers",
    scan: "Index Scan of gates by gates_pkey",
    reason: "all gates are wanted: one for each limited tool and project, up to a limit, every few seconds at most",
  },
  { statement: "calls.list-of-target", scan: "Index Scan of tools by tools_pkey", reason: "a project has few tools" },
  {
    statement: "tools.read-names",
    scan: "Index Scan of tools by tools_pkey",
    reason: "a project's names, up to a limit",
  },
  {
    statement: "tools.read-fingerprints",
    scan: "Index Scan of tools by tools_pkey",
    reason: "all tools of a project, without their definitions",
  },
  { statement: "webhooks.count", scan: "Index Only Scan of webhooks by webhooks_of_project", reason: FEW_WEBHOOKS },
  { statement: "webhooks.read-listeners", scan: "Index Scan of webhooks by webhooks_of_project", reason: FEW_WEBHOOKS },
  { statement: "webhooks.read-readers", scan: "Index Only Scan of webhooks by webhooks_open", reason: ONE_WEBHOOK },
  { statement: "webhooks.drop-readers", scan: "Index Only Scan of webhooks by webhooks_open", reason: ONE_WEBHOOK },
  { statement: "webhooks.add-reader", scan: "Index Only Scan of webhooks by webhooks_open", reason: ONE_WEBHOOK },
  {
    statement: "webhooks.move-reader",
    scan: "Index Scan of webhook_readers by webhook_readers_pkey",
    reason: "the project is the whole key",
  },
  { statement: "tools.write-pending", scan: "Index Scan of tools by tools_pkey", reason: BY_HAND },
  { statement: "tools.hold-paused", scan: "Index Scan of live_calls by live_calls_pkey", reason: BY_HAND },
  // `why` of one call, for a person: as many rows as calls are live, and at most ten thousand.
  { statement: "calls.read-standing", scan: "Index Scan of live_calls by live_calls_pkey", reason: BY_HAND },
  {
    statement: "calls.read-standing",
    scan: "Index Only Scan of live_calls by live_calls_gate_running",
    reason: HELD_SLOTS,
  },
  { statement: "tools.gate-calls", scan: "Index Scan of live_calls by live_calls_pkey", reason: BY_HAND },
  { statement: "projects.gate-calls", scan: "Index Scan of live_calls by live_calls_pkey", reason: BY_HAND },
  {
    statement: "gates.count-open-of-project",
    scan: "Index Only Scan of live_calls by live_calls_pkey",
    reason: BY_HAND,
  },
  {
    statement: "gates.count-queued",
    scan: "Index Scan of live_calls by live_calls_pkey",
    reason: "live calls only, up to the limit of the project's queue; or of a list of limits for a person",
  },
  {
    statement: "gates.count-queues",
    scan: "Index Scan of live_calls by live_calls_pkey",
    reason: "live calls only, up to the limit of the project's queue; only of projects with such a limit",
  },
  { statement: "gates.count-waiting", scan: "Index Only Scan of live_calls by live_calls_gated", reason: BY_HAND },
  { statement: "gates.read-of-project", scan: "Index Scan of tools by tools_pkey", reason: "a project has few tools" },
  {
    statement: "gates.read-of-project",
    scan: "Index Only Scan of live_calls by live_calls_gate_running",
    reason: HELD_SLOTS,
  },
  {
    statement: "gates.read-of-project",
    scan: "Index Scan of live_calls by live_calls_gate_running",
    reason: RUNS_OF_TARGET,
  },
  {
    statement: "gates.read-waiting",
    scan: "Index Only Scan of live_calls by live_calls_gate_running",
    reason: HELD_SLOTS,
  },
  {
    statement: "gates.read-of-calls",
    scan: "Index Only Scan of live_calls by live_calls_gate_running",
    reason: HELD_SLOTS,
  },
  {
    statement: "gates.read-waiting",
    scan: "Index Scan of live_calls by live_calls_gate_running",
    reason: RUNS_OF_TARGET,
  },
  {
    statement: "gates.read-of-calls",
    scan: "Index Scan of live_calls by live_calls_gate_running",
    reason: RUNS_OF_TARGET,
  },
  // The limits of a project, for a person who looks: its limited tools, and its calls that run or wait at a gate, up to a bound.
  { statement: "gates.read-of-project", scan: "Index Scan of tools by tools_pkey", reason: BY_HAND },
  {
    statement: "gates.read-of-project",
    scan: "Index Only Scan of live_calls by live_calls_gate_running",
    reason: HELD_SLOTS,
  },
  {
    statement: "gates.read-of-project",
    scan: "Index Scan of live_calls by live_calls_gate_running",
    reason: RUNS_OF_TARGET,
  },
  { statement: "gates.count-waiting", scan: "Index Only Scan of live_calls by live_calls_gated", reason: BY_HAND },
  { statement: "gates.read-slots", scan: "Index Scan of live_calls by live_calls_gate_running", reason: HELD_SLOTS },
  {
    statement: "calls.projects-with-work",
    scan: "Index Only Scan of live_calls by live_calls_of_session",
    reason: "which projects have work is the question; live_calls_of_session holds queued calls of sessions only",
  },
  {
    statement: "calls.projects-with-work",
    scan: "Index Only Scan of live_calls by live_calls_gated",
    reason: "the same question; live_calls_gated holds queued limited calls only",
  },
  { statement: "tools.free-paused", scan: "Index Scan of live_calls by live_calls_pkey", reason: BY_HAND },
  { statement: "projects.has-open-work", scan: "Index Only Scan of live_calls by live_calls_pkey", reason: BY_HAND },
  {
    statement: "retention.forget-task-agents",
    scan: "Index Scan of live_calls by live_calls_pkey",
    reason: LIVE_CALLS,
  },
  { statement: "projects.has-open-work", scan: "Index Scan of heads by heads_pkey", reason: BY_HAND },
  { statement: "projects.has-open-work", scan: "Index Only Scan of turns by turns_output", reason: BY_HAND },
  {
    statement: "calls.lease",
    scan: "Index Only Scan of live_calls by live_calls_session_running",
    reason: IN_SESSIONS,
  },
  {
    statement: "calls.claim-with-sessions",
    scan: "Index Only Scan of live_calls by live_calls_session_running",
    reason: IN_SESSIONS,
  },
  {
    statement: "calls.projects-with-work",
    scan: "Index Only Scan of live_calls by live_calls_claimable",
    reason: "which projects have work is the question; live_calls_claimable holds queued calls only",
  },
  {
    statement: "calls.projects-with-work",
    scan: "Index Only Scan of live_calls by live_calls_pinned",
    reason: "the same question; live_calls_pinned holds queued pinned calls only",
  },
  {
    statement: "bus.now-position",
    scan: "Index Scan of messages by messages_events_of_project",
    reason: LAST_EVENT,
  },
  {
    statement: "bus.now-position",
    scan: "Index Scan of sent_events by sent_events_of_project",
    reason: LAST_EVENT,
  },
  {
    statement: "bus.old-position",
    scan: "Index Scan of messages by messages_events_of_project",
    reason: OLD_READER,
  },
  {
    statement: "bus.old-position",
    scan: "Index Scan of sent_events by sent_events_of_project",
    reason: OLD_READER,
  },
];

// With one row or none, two indexes that both hold the project cost the same, and the planner takes the younger one. None
// of these tables is emptied and looked at again by a server at work, and the next look puts it right.
const TIED_INDEXES = ["batches_of_call", "sessions_idle", "steps_of_turn", "inbox_once", "turns_of_agent"];

/** A lookup by key that took another index than the key's, as it may on a table of at most one row. */
export const isTied = (scan: string): boolean => TIED_INDEXES.some((index) => scan.endsWith(` by ${index}`));

/** Runs that were ended while a service had them, until it says that they are over: never more than there are slots. */
export const isFew = (scan: string): boolean => scan.includes(" of lingering_runs by lingering_runs_");
