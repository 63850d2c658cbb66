// Webhooks by project: registered, listed, removed; and how far the events of their projects are read.

import type { Statement } from "../sql/database.ts";

const COLUMNS = "project_id, webhook_id, tool_call_id, url, events, created_by, created_at";

export interface WebhookRow {
  readonly project_id: string;
  readonly webhook_id: string;
  readonly tool_call_id: string | null;
  readonly url: string;
  readonly events: readonly string[];
  readonly created_by: string;
  readonly created_at: Date;
}

/** $1 project, $2 id, $3 call or null, $4 url, $5 events, $6 sealed secret, $7 key, $8 creator. */
export const ADD_WEBHOOK: Statement = {
  name: "webhooks.add",
  text: `
insert into resource.webhooks (project_id, webhook_id, tool_call_id, url, events, secret, key_id, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8)
returning ${COLUMNS}`,
};

/** $1 project, $2 where its log ends now. A reader that reads for a webhook stays where it is; one that was left behind begins anew. */
export const ADD_READER: Statement = {
  name: "webhooks.add-reader",
  text: `
insert into state.webhook_readers as r (project_id, position) values ($1, $2)
on conflict (project_id) do update set position = excluded.position, read_at = now()
 where (select true from resource.webhooks w where w.project_id = $1 and w.ended_at is null limit 1) is null`,
};

/** $1 project: how many webhooks of the project itself there are. */
export const COUNT_WEBHOOKS: Statement = {
  name: "webhooks.count",
  text: "select count(*)::int as count from resource.webhooks where project_id = $1 and tool_call_id is null",
};

/** $1 project, $2 after this id, $3 limit; those of calls are not among them. */
export const LIST_WEBHOOKS: Statement = {
  name: "webhooks.list",
  text: `
select ${COLUMNS} from resource.webhooks
 where project_id = $1 and webhook_id > $2 and tool_call_id is null
 order by project_id, webhook_id limit $3::int`,
};

/** $1 project, $2 calls: the webhooks of the project, and those of these calls. */
export const READ_LISTENERS: Statement = {
  name: "webhooks.read-listeners",
  text: `
select ${COLUMNS} from resource.webhooks where project_id = $1 and tool_call_id is null
union all
select w.* from unnest($2::text[]) i (id)
 cross join lateral (
   select ${COLUMNS} from resource.webhooks w where w.project_id = $1 and w.tool_call_id = i.id offset 0) w`,
};

/** $1 project, $2 id; also one of a call. */
export const HAS_WEBHOOK: Statement = {
  name: "webhooks.has",
  text: "select 1 from resource.webhooks where project_id = $1 and webhook_id = $2",
};

export const REMOVE_WEBHOOK: Statement = {
  name: "webhooks.remove",
  text: "delete from resource.webhooks where project_id = $1 and webhook_id = $2 returning url",
};

/** $1 project, $2 calls that have ended: their webhooks wait for no further event. */
export const END_OF_CALLS: Statement = {
  name: "webhooks.end-of-calls",
  text: `
update resource.webhooks set ended_at = now()
 where project_id = $1 and tool_call_id = any ($2::text[]) and tool_call_id is not null and ended_at is null`,
};

/** Whether a webhook of the reader's project waits for events. */
const IS_OPEN = `(
   select true from resource.webhooks w where w.project_id = r.project_id and w.ended_at is null limit 1) is true`;

/** Projects whose events are read, with how far: those that have a webhook that waits for some. */
export const READ_READERS: Statement = {
  name: "webhooks.read-readers",
  text: `
select r.project_id, r.position from state.webhook_readers r
 where ${IS_OPEN}
 order by r.project_id`,
};

/** $1 project, $2 from here, $3 to here. No row: another process was faster. */
export const MOVE_READER: Statement = {
  name: "webhooks.move-reader",
  text: `
update state.webhook_readers set position = $3, read_at = now()
 where project_id = $1 and position = $2 returning project_id`,
};

/** Readers of projects without webhooks: the next webhook begins with a reader of its own. */
export const DROP_READERS: Statement = {
  name: "webhooks.drop-readers",
  text: `
delete from state.webhook_readers r
 where (${IS_OPEN}) = false`,
};

/** Deletes webhooks of calls that were made more than a month ago, if the call has ended. Their deliveries are deleted with them. */
export const DROP_OLD_OF_CALLS: Statement = {
  name: "webhooks.drop-old-of-calls",
  text: `
delete from resource.webhooks
 where ctid = any (array(
   select o.ctid from resource.webhooks o
    where o.tool_call_id is not null and o.created_at < now() - interval '30 days'
      and (o.ended_at is not null or (
        select true from state.live_calls c where c.project_id = o.project_id and c.tool_call_id = o.tool_call_id) is null)
    order by o.created_at limit 500))`,
};
