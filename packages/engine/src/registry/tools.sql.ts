// Statements of tools: the current row of each, every version there ever was, and the queue of a paused one.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { ToolStatus } from "./definition-cache.sql.ts";

export interface ToolRow {
  readonly tool_name: string;
  readonly version: number;
  readonly definition_hash: string;
  readonly status: ToolStatus;
  readonly source: string | null;
  readonly target: string;
  readonly internal: boolean;
  readonly updated_at: Date;
  readonly definition: string;
}

const COLUMNS =
  "t.tool_name, t.version, t.definition_hash, t.status, t.source, t.target, t.internal, t.updated_at, v.definition";

const WITH_VERSION = `
  from resource.tools t
  join resource.tool_versions v on v.project_id = t.project_id and v.tool_name = t.tool_name and v.version = t.version`;

/** $1 project, $2 names; deleted ones too. */
export const READ_TOOLS: Statement = {
  name: "tools.read",
  text: `
select ${COLUMNS}
  from unnest($2::text[]) as n (tool_name)
 cross join lateral (
   select * from resource.tools x where x.project_id = $1 and x.tool_name = n.tool_name offset 0) t
 cross join lateral (
   select definition from resource.tool_versions x
    where x.project_id = $1 and x.tool_name = t.tool_name and x.version = t.version offset 0) v`,
};

/** $1 project, $2 after, $3 limit, $4 whether the engine's own are shown. */
export const LIST_TOOLS: Statement = {
  name: "tools.list",
  text: `
select ${COLUMNS} ${WITH_VERSION}
 where t.project_id = $1 and t.tool_name > $2 and t.status <> 'deleted' and ($4::boolean or not t.internal)
 order by t.tool_name
 limit $3::int`,
};

export interface ToolWrite {
  readonly toolName: string;
  readonly version: number;
  readonly definitionHash: string;
  readonly source: string | null;
  readonly target: string;
  readonly internal: boolean;
  readonly plain: boolean;
  readonly definition: string;
}

const writes = setInput<ToolWrite>([
  ["toolName", "text"],
  ["version", "integer"],
  ["definitionHash", "text"],
  ["source", "text"],
  ["target", "text"],
  ["internal", "boolean"],
  ["plain", "boolean"],
  ["definition", "text"],
]);

/** The columns, then the project. */
export const bindToolWrites = (rows: readonly ToolWrite[], projectId: string): unknown[] => [
  ...writes.bind(rows),
  projectId,
];

/** A paused tool stays paused under its new version; a deleted one comes back. */
export const WRITE_TOOLS: Statement = {
  name: "tools.write",
  text: `
with input as materialized (select * from ${writes.from}),
current as (
  insert into resource.tools as t (project_id, tool_name, version, definition_hash, source, target, internal, plain)
  select $${writes.next}::text, tool_name, version, definition_hash, source, target, internal, plain from input order by tool_name
  on conflict (project_id, tool_name) do update
     set version = excluded.version, definition_hash = excluded.definition_hash, source = excluded.source,
         target = excluded.target, internal = excluded.internal, plain = excluded.plain, updated_at = now(),
         status = case t.status when 'paused' then 'paused' else 'active' end
  returning tool_name
)
select tool_name from current`,
};

/** After the rows above: a version belongs to a tool. */
export const WRITE_VERSIONS: Statement = {
  name: "tools.write-versions",
  text: `
insert into resource.tool_versions (project_id, tool_name, version, definition_hash, definition)
select $${writes.next}::text, tool_name, version, definition_hash, definition from ${writes.from}
    on conflict do nothing`,
};

/** $1 project, $2 tool, $3 status. */
export const SET_TOOL_STATUS: Statement = {
  name: "tools.set-status",
  text: `
update resource.tools
   set status = $3, updated_at = case when status = $3 then updated_at else now() end
 where project_id = $1 and tool_name = $2 and status <> 'deleted'
returning internal`,
};

// What was picked is locked, so the update need not ask again whether it is queued; asked, it could be planned over the
// whole queue, and such a plan, made while the queue was empty, would stay.
/** Queued calls of a paused tool leave the queue; in key order, as everybody locks them. */
export const PARK_CALLS: Statement = {
  name: "tools.park-calls",
  text: `
with parked as materialized (
  select project_id, tool_call_id from state.live_calls
   where project_id = $1 and tool_name = $2 and status = 'queued' and available_at < 'infinity'
     and exists (select from resource.tools where project_id = $1 and tool_name = $2 and status = 'paused')
   order by project_id, tool_call_id
     for update
)
update state.live_calls c set available_at = 'infinity'
  from parked p where c.project_id = any (array[p.project_id]) and c.tool_call_id = p.tool_call_id`,
};

/** And come back at the time they had asked for, due at once: a watchdog sees to it that an external bus hears of them. */
export const UNPARK_CALLS: Statement = {
  name: "tools.unpark-calls",
  text: `
with parked as materialized (
  select project_id, tool_call_id from state.live_calls
   where project_id = $1 and tool_name = $2 and status = 'queued' and available_at = 'infinity'
   order by project_id, tool_call_id
     for update
)
update state.live_calls c
   set available_at = greatest(now(), c.queue_deadline - make_interval(secs => c.queue_timeout_seconds)), due_at = now()
  from parked p where c.project_id = any (array[p.project_id]) and c.tool_call_id = p.tool_call_id`,
};

export interface VersionRow {
  readonly version: number;
  readonly definition_hash: string;
  readonly definition: string;
  readonly created_at: Date;
}

/** $1 project, $2 tool, $3 below this version, $4 limit; newest first. */
export const LIST_VERSIONS: Statement = {
  name: "tools.list-versions",
  text: `
select version, definition_hash, definition, created_at
  from resource.tool_versions
 where project_id = $1 and tool_name = $2 and version < $3::int
 order by version desc
 limit $4::int`,
};
