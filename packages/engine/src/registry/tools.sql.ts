// Statements of tools: the current row of each, every version there ever was, and the queue of a paused one.

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";
import type { ToolStatus } from "./definition-cache.sql.ts";
import { withinPage } from "./page-bytes.sql.ts";

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
  /** The definition as its program sent it: the code that runs its calls. */
  readonly code_hash: string;
  readonly deleted_by: string | null;
  readonly guarded_version: number | null;
  readonly guard_definition: string | null;
  readonly pending_version: number | null;
  readonly pending_source: string | null;
  readonly pending_hash: string | null;
  readonly pending_definition: string | null;
  readonly pending_at: Date | null;
  /** The highest number of any version: a version that waited and was dropped keeps its number. */
  readonly last_version: number;
}

const COLUMNS = `
  t.tool_name, t.version, t.definition_hash, t.status, t.source, t.target, t.internal, t.updated_at, v.definition, v.code_hash, t.deleted_by,
  t.guarded_version, g.definition as guard_definition, t.pending_version, t.pending_source,
  p.definition_hash as pending_hash, p.definition as pending_definition, p.created_at as pending_at, l.version as last_version`;

/** One version of a tool, looked up by key. */
const versionOf = (alias: string, version: string): string => `(
   select definition_hash, definition, code_hash, created_at from resource.tool_versions x
    where x.project_id = t.project_id and x.tool_name = t.tool_name and x.version = ${version} offset 0) ${alias}`;

const WITH_VERSIONS = `
 cross join lateral ${versionOf("v", "t.version")}
  left join lateral ${versionOf("g", "t.guarded_version")} on true
  left join lateral ${versionOf("p", "t.pending_version")} on true
 cross join lateral (
   select version from resource.tool_versions x
    where x.project_id = t.project_id and x.tool_name = t.tool_name
    order by project_id desc, tool_name desc, version desc limit 1) l`;

/** $1 project, $2 names; deleted ones too. */
export const READ_TOOLS: Statement = {
  name: "tools.read",
  text: `
select ${COLUMNS}
  from unnest($2::text[]) as n (tool_name)
 cross join lateral (
   select * from resource.tools x where x.project_id = $1 and x.tool_name = n.tool_name offset 0) t
${WITH_VERSIONS}`,
};

/**
 * $1 project, $2 after, $3 limit, $4 whether the engine's own are shown, $5 only those with a version that waits: then
 * deleted ones too, because accepting brings them back.
 */
export const LIST_TOOLS: Statement = {
  name: "tools.list",
  text: withinPage(`
select ${COLUMNS},
       octet_length(v.definition) + coalesce(octet_length(g.definition), 0) + coalesce(octet_length(p.definition), 0) as weight,
       row_number() over (order by t.tool_name) as place
  from resource.tools t
${WITH_VERSIONS}
 where t.project_id = $1 and t.tool_name > $2 and ($4::boolean or not t.internal)
   and case when $5::boolean then t.pending_version is not null else t.status <> 'deleted' end
 order by t.tool_name
 limit $3::int`),
};

const writes = inputOf({
  toolName: given<string>("text"),
  version: given<number>("integer"),
  definitionHash: given<string>("text"),
  source: given<string | null>("text"),
  target: given<string>("text"),
  internal: given<boolean>("boolean"),
  plain: given<boolean>("boolean"),
  /** Its limits as JSON; null: none. */
  limits: given<string | null>("text"),
  guardedVersion: given<number | null>("integer"),
});

export type ToolWrite = RowIn<typeof writes>;

/** The columns, then the project. */
export const bindToolWrites = (rows: readonly ToolWrite[], projectId: string): unknown[] => [
  ...writes.bind(rows),
  projectId,
];

/** A paused tool stays paused under its new version; a deleted one comes back. A waiting version is dropped. */
export const WRITE_TOOLS: Statement = {
  name: "tools.write",
  text: `
with input as materialized (select * from ${writes.from}),
current as (
  insert into resource.tools as t
    (project_id, tool_name, version, definition_hash, source, target, internal, plain, limits, guarded_version)
  select $${writes.next}::text, tool_name, version, definition_hash, source, target, internal, plain, limits::jsonb, guarded_version
    from input order by tool_name
  on conflict (project_id, tool_name) do update
     set version = excluded.version, definition_hash = excluded.definition_hash, source = excluded.source,
         target = excluded.target, internal = excluded.internal, plain = excluded.plain, limits = excluded.limits, guarded_version = excluded.guarded_version,
         pending_version = null, pending_source = null, deleted_by = null,
         updated_at = case when t.version = excluded.version and t.status <> 'deleted' then t.updated_at else now() end,
         status = case t.status when 'paused' then 'paused' else 'active' end
  returning tool_name
)
select tool_name from current`,
};

/** A tool that is new and waits: its row says deleted, so that no call is made, and names the version that waits. */
export const WRITE_UNACCEPTED: Statement = {
  name: "tools.write-unaccepted",
  text: `
insert into resource.tools
  (project_id, tool_name, version, definition_hash, source, target, internal, plain, limits, status, pending_version, pending_source)
select $${writes.next}::text, tool_name, version, definition_hash, source, target, internal, plain, limits::jsonb, 'deleted', version, source
  from ${writes.from} order by tool_name`,
};

const pendings = inputOf({
  toolName: given<string>("text"),
  version: given<number>("integer"),
  source: given<string | null>("text"),
});

export type PendingWrite = RowIn<typeof pendings>;

/** The columns, then the project. */
export const bindPendingWrites = (rows: readonly PendingWrite[], projectId: string): unknown[] => [
  ...pendings.bind(rows),
  projectId,
];

/** A newer waiting version replaces an older one; the version in force stays. */
export const WRITE_PENDING: Statement = {
  name: "tools.write-pending",
  text: `
update resource.tools t
   set pending_version = i.version, pending_source = i.source
  from ${pendings.from}
 where t.project_id = any (array[$${pendings.next}::text]) and t.tool_name = i.tool_name`,
};

const versions = inputOf({
  toolName: given<string>("text"),
  version: given<number>("integer"),
  definitionHash: given<string>("text"),
  definition: given<string>("text"),
  codeHash: given<string>("text"),
  /** It is in force now; one that waits is not. */
  accepted: given<boolean>("boolean"),
});

export type VersionWrite = RowIn<typeof versions>;

/** The columns, then the project. */
export const bindVersionWrites = (rows: readonly VersionWrite[], projectId: string): unknown[] => [
  ...versions.bind(rows),
  projectId,
];

/** After the rows above: a version belongs to a tool. */
export const WRITE_VERSIONS: Statement = {
  name: "tools.write-versions",
  text: `
insert into resource.tool_versions (project_id, tool_name, version, definition_hash, definition, code_hash, accepted)
select $${versions.next}::text, tool_name, version, definition_hash, definition, code_hash, accepted from ${versions.from}
    on conflict do nothing`,
};

/**
 * Versions that wait or waited and were never in force: the newest of each tool stay, so that a service that registers a new one
 * at every start does not fill the table. No call can name one of them. The caller
 * holds the project's lock, so the places of the rows stay. $1 project, $2 tools, $3 how many stay.
 */
export const DROP_UNACCEPTED: Statement = {
  name: "tools.drop-unaccepted",
  text: `
with old as materialized (
  select x.place
    from unnest($2::text[]) as n (tool_name)
   cross join lateral (
     select version, pending_version, guarded_version from resource.tools y
      where y.project_id = $1 and y.tool_name = n.tool_name offset 0) t
   cross join lateral (
     select z.ctid as place from resource.tool_versions z
      where z.project_id = $1 and z.tool_name = n.tool_name and not z.accepted and z.version <> t.version
        and z.version is distinct from t.pending_version and z.version is distinct from t.guarded_version
      order by z.project_id desc, z.tool_name desc, z.version desc offset $3::int - 1) x
)
delete from resource.tool_versions v
 using old
 where v.ctid = old.place`,
};

const ofCode = inputOf({
  toolName: given<string>("text"),
  codeHash: given<string>("text"),
});

/** The columns, then the project. */
export const bindCodes = (
  rows: readonly { readonly toolName: string; readonly codeHash: string }[],
  projectId: string,
): unknown[] => [...ofCode.bind(rows), projectId];

/** The newest version of each tool that is of this code and was in force. */
export const FIND_VERSIONS_OF_CODE: Statement = {
  name: "tools.find-versions-of-code",
  text: `
select v.tool_name, v.version, v.definition_hash
  from ${ofCode.from}
 cross join lateral (
   select x.tool_name, x.version, x.definition_hash from resource.tool_versions x
    where x.project_id = $${ofCode.next}::text and x.code_hash = i.code_hash and x.tool_name = i.tool_name and x.accepted
    order by x.version desc limit 1) v`,
};

/** $1 project, $2 tool, $3 version; only one that was in force. */
export const READ_VERSION: Statement = {
  name: "tools.read-version",
  text: `
select definition_hash, definition, created_at from resource.tool_versions
 where project_id = $1 and tool_name = $2 and version = $3::int and accepted`,
};

/** $1 project, $2 tool, $3 version: it is in force from now on. */
export const ACCEPT_VERSION: Statement = {
  name: "tools.accept-version",
  text: "update resource.tool_versions set accepted = true where project_id = $1 and tool_name = $2 and version = $3::int",
};

/** $1 project, $2 tool, $3 status, $4 the person who deletes it, if a person does. A deletion drops the waiting version. */
export const SET_TOOL_STATUS: Statement = {
  name: "tools.set-status",
  text: `
update resource.tools
   set status = $3, updated_at = case when status = $3 then updated_at else now() end,
       deleted_by = $4::text,
       pending_version = case when $3 = 'deleted' then null else pending_version end,
       pending_source = case when $3 = 'deleted' then null else pending_source end
 where project_id = $1 and tool_name = $2 and status <> 'deleted'
returning internal`,
};

// The picked rows are locked, so the update need not check again that they are queued. With that condition it could be planned
// over the whole queue, and such a plan, made while the queue was empty, would stay.
/** Queued calls of a paused tool leave the queue; in key order, the order in which all statements lock them. */
export const HOLD_PAUSED: Statement = {
  name: "tools.hold-paused",
  text: `
with paused as materialized (
  select project_id, tool_call_id from state.live_calls
   where project_id = $1 and tool_name = $2 and status = 'queued' and available_at < 'infinity'
     and exists (select from resource.tools where project_id = $1 and tool_name = $2 and status = 'paused')
   order by project_id, tool_call_id
     for update
)
update state.live_calls c set available_at = 'infinity'
  from paused p where c.project_id = any (array[p.project_id]) and c.tool_call_id = p.tool_call_id`,
};

/** The calls come back at the time they had asked for, due at once; a watchdog publishes them on an external bus. */
export const FREE_PAUSED: Statement = {
  name: "tools.free-paused",
  text: `
with paused as materialized (
  select project_id, tool_call_id from state.live_calls
   where project_id = $1 and tool_name = $2 and status = 'queued' and available_at = 'infinity'
   order by project_id, tool_call_id
     for update
)
update state.live_calls c
   set available_at = greatest(now(), c.queue_deadline - make_interval(secs => c.queue_timeout_seconds)), due_at = now()
  from paused p where c.project_id = any (array[p.project_id]) and c.tool_call_id = p.tool_call_id`,
};

export interface VersionRow {
  readonly version: number;
  readonly definition_hash: string;
  readonly definition: string;
  readonly created_at: Date;
  readonly state: "accepted" | "pending" | "past";
}

/** $1 project, $2 tool, $3 below this version, $4 limit; newest first. */
export const LIST_VERSIONS: Statement = {
  name: "tools.list-versions",
  text: withinPage(`
select v.version, v.definition_hash, v.definition, v.created_at,
       octet_length(v.definition) as weight, row_number() over (order by v.version desc) as place,
       case when v.version = t.pending_version then 'pending'
            when v.version = t.version and t.status <> 'deleted' then 'accepted' else 'past' end as state
  from resource.tools t
  join resource.tool_versions v on v.project_id = any (array[t.project_id]) and v.tool_name = t.tool_name
 where t.project_id = $1 and t.tool_name = $2 and v.version < $3::int
 order by v.version desc
 limit $4::int`),
};
