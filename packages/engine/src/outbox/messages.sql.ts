// Writing messages: one insert for any number of them, in the caller's transaction or in one of its own.

import { type InputFields, setInput } from "../sql/input.sql.ts";

export interface MessageRow {
  readonly category: string;
  readonly projectId: string;
  readonly subject: string;
  readonly component: string;
  readonly target: string;
  readonly headers: string;
  readonly payload: string;
  readonly messageId: string | null;
}

/** What is sent of a message. */
export const SENT_COLUMNS = [
  ["category", "text"],
  ["projectId", "text"],
  ["subject", "text"],
  ["component", "text"],
  ["target", "text"],
  ["headers", "text"],
  ["payload", "text"],
] as const satisfies InputFields<MessageRow>;

export const MESSAGE_COLUMNS: InputFields<MessageRow> = [...SENT_COLUMNS, ["messageId", "text"]];

export const messageInput = setInput<MessageRow>(MESSAGE_COLUMNS);

/** Row ids ascend in the order given. A message id that exists already is left alone (B3). */
export const INSERT_MESSAGES = {
  name: "outbox_insert_messages",
  text: `
with written as (
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, message_id)
  select category, project_id, subject, component, target, headers, payload, message_id
    from ${messageInput.from}
   order by ord
  on conflict (project_id, message_id) where message_id is not null do nothing
  returning 1)
select count(*)::int as written from written`,
};
