// Plans that look like whole scans and are not long, or not hot, each with its reason. One that no plan needs any more
// fails the test.

export interface AllowedScan {
  readonly statement: string;
  readonly scan: string;
  readonly reason: string;
}

const LIVE_CALLS = "calls_due holds open calls only";

export const ALLOWED_SCANS: readonly AllowedScan[] = [
  { statement: "stats.live-calls", scan: "Index Scan of calls by calls_due", reason: LIVE_CALLS },
  { statement: "calls.recall-claim", scan: "Index Scan of calls by calls_due", reason: LIVE_CALLS },
  { statement: "projects.has-open-work", scan: "Index Scan of calls by calls_due", reason: LIVE_CALLS },
  {
    statement: "batches.read-due",
    scan: "Index Scan of batches by batches_open",
    reason: "batches_open holds open batches only, soonest deadline first, up to a limit",
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
    statement: "outbox_claim",
    scan: "Index Scan of messages by messages_pkey",
    reason: "with an external bus the table holds only what has not left",
  },
  {
    statement: "outbox_next_due",
    scan: "Index Scan of messages by messages_pkey",
    reason: "with an external bus the table holds only what has not left",
  },
  {
    statement: "outbox_stuck_messages",
    scan: "Index Scan of messages by messages_pkey",
    reason: "with an external bus the table holds only what has not left",
  },
  {
    statement: "projects.sweep-messages",
    scan: "Seq Scan of messages by nothing",
    reason: "deleting a project is rare and waits for nobody; an index for it would cost every message",
  },
  {
    statement: "retention.projects",
    scan: "Index Only Scan of projects by projects_pkey",
    reason: "all projects are wanted, once a minute",
  },
  {
    statement: "tokens.list",
    scan: "Index Scan of tokens by tokens_pkey",
    reason: "all tokens are wanted, by a person",
  },
  {
    statement: "tools.list-targets",
    scan: "Index Scan of tools by tools_pkey",
    reason: "the targets of all tools are wanted, by a person",
  },
];
