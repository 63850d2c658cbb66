// The rows a check looks at, read in one snapshot.

import { withTestClient } from "../postgres-client.ts";
import {
  BEGIN_SNAPSHOT,
  COUNT_OPEN,
  READ_CALL_EVENTS,
  READ_CALLS,
  READ_CARDS,
  READ_DEAD_LETTERS,
  READ_HEADS,
  READ_INBOX,
  READ_KEYS,
  READ_MESSAGES,
  READ_STEPS,
  READ_TURNS,
} from "./tables.sql.ts";

export interface CallRow {
  readonly project_id: string;
  readonly tool_call_id: string;
  readonly status: string;
  readonly error_code: string | null;
  readonly agent_id: string;
  readonly agent_turn_id: string;
  readonly step_id: string;
  readonly headless: boolean;
  readonly idempotency_key: string | null;
  readonly retry_safe: boolean;
  readonly retry_of: string | null;
  readonly after_execution: string;
  readonly call_card_id: string;
  readonly call_card_hash: string;
  readonly chain_hash: string | null;
  readonly attempts: number;
  readonly lease_id: string | null;
  readonly watched: boolean;
  readonly result_card_id: string | null;
  readonly result_hash: string | null;
  readonly result_chain_seq: number | null;
  readonly result_chain_hash: string | null;
  readonly approval_hash: string | null;
  readonly settled_by: string | null;
  readonly settled: boolean;
  readonly tool_name: string;
  /** Leased in the statement that wrote it. Null: it never ran. */
  readonly matched: boolean | null;
}

/** Which call a key answers with. */
export interface KeyRow {
  readonly project_id: string;
  readonly agent_id: string;
  readonly tool_name: string;
  readonly idempotency_key: string;
  readonly tool_call_id: string;
}

export interface CardRow {
  readonly project_id: string;
  readonly card_id: string;
  readonly type: string;
  readonly author_id: string;
  readonly tool_call_id: string | null;
  readonly agent_turn_id: string | null;
  readonly step_id: string | null;
  readonly hash: string;
  readonly body: string;
  readonly chain_seq: number | null;
  readonly chain_hash: string | null;
  readonly candidate: boolean;
}

export interface InboxRow {
  readonly project_id: string;
  readonly agent_id: string;
  readonly agent_turn_id: string;
  readonly correlation_id: string;
  readonly message_type: string;
  readonly payload: string;
  readonly archived: boolean;
}

export interface StepRow {
  readonly project_id: string;
  readonly agent_id: string;
  readonly agent_turn_id: string;
  readonly step_id: string;
  readonly tool_call_ids: readonly string[];
  readonly ended: boolean;
}

export interface TurnRow {
  readonly project_id: string;
  readonly agent_turn_id: string;
  readonly agent_id: string;
  readonly status: string;
  readonly ended: boolean;
  readonly deliverable_card_id: string | null;
  readonly chain_seq: number | null;
  readonly chain_hash: string | null;
  readonly chain_version: number;
  readonly task_hash: string | null;
  readonly source_agent_id: string;
  readonly kind: string;
  readonly payload: string;
  readonly runtime_config: string;
  readonly metadata: string;
  readonly context_cards: number;
  readonly context_hash: string | null;
  /** What was written for the turn, behind what it was given. */
  readonly opening_cards: readonly string[];
}

export interface HeadRow {
  readonly project_id: string;
  readonly agent_id: string;
  readonly status: string;
  readonly active_agent_turn_id: string;
}

export interface DeadLetterRow {
  readonly project_id: string;
  readonly dead_letter_id: string;
  readonly kind: string;
  readonly tool_call_id: string | null;
  readonly code: string;
  readonly replayed_as: string | null;
}

export interface MessageRow {
  readonly id: string;
  readonly category: string;
  readonly subject: string;
  readonly message_id: string | null;
  readonly payload: string;
}

/** What was told of a call, in the order of the log. */
export interface CallEventRow {
  readonly project_id: string;
  readonly tool_call_id: string;
  readonly phase: string;
  readonly attempt: number;
}

export interface Tables {
  readonly calls: readonly CallRow[];
  readonly keys: readonly KeyRow[];
  readonly cards: readonly CardRow[];
  readonly inbox: readonly InboxRow[];
  readonly steps: readonly StepRow[];
  readonly turns: readonly TurnRow[];
  readonly heads: readonly HeadRow[];
  readonly deadLetters: readonly DeadLetterRow[];
  readonly messages: readonly MessageRow[];
  readonly callEvents: readonly CallEventRow[];
}

export interface OpenCounts {
  readonly calls: number;
  readonly turns: number;
  readonly commands: number;
  readonly events: number;
}

const callEventOf = ({
  project_id,
  payload,
}: {
  readonly project_id: string;
  readonly payload: string;
}): CallEventRow => {
  const { tool_call_id, phase, attempt } = JSON.parse(payload.slice(payload.lastIndexOf("\t") + 1)) as Omit<
    CallEventRow,
    "project_id"
  >;
  return { project_id, tool_call_id, phase, attempt };
};

export const readTables = (url: string): Promise<Tables> =>
  withTestClient(url, async (client) => {
    const rows = async <Row extends object>(text: string): Promise<Row[]> => (await client.query<Row>(text)).rows;
    await client.query(BEGIN_SNAPSHOT);
    const tables = {
      calls: await rows<CallRow>(READ_CALLS),
      keys: await rows<KeyRow>(READ_KEYS),
      cards: await rows<CardRow>(READ_CARDS),
      inbox: await rows<InboxRow>(READ_INBOX),
      steps: await rows<StepRow>(READ_STEPS),
      turns: await rows<TurnRow>(READ_TURNS),
      heads: await rows<HeadRow>(READ_HEADS),
      deadLetters: await rows<DeadLetterRow>(READ_DEAD_LETTERS),
      messages: await rows<MessageRow>(READ_MESSAGES),
      callEvents: (await rows<{ project_id: string; payload: string }>(READ_CALL_EVENTS)).map(callEventOf),
    };
    await client.query("commit");
    return tables;
  });

/** Lets `work` count open rows repeatedly over one connection: a new connection each time would cost more than the count. */
export const countingOpen = <T>(url: string, work: (count: () => Promise<OpenCounts>) => Promise<T>): Promise<T> =>
  withTestClient(url, (client) =>
    work(async () => {
      const [row] = (await client.query<OpenCounts>(COUNT_OPEN)).rows;
      return row as OpenCounts;
    }),
  );
