// What there is to say about tools without reading a definition.

import type { Statement } from "../sql/database.ts";
import type { ToolRow } from "./tools.sql.ts";

export interface ToolNameRow
  extends Pick<ToolRow, "tool_name" | "status" | "version" | "deleted_by" | "pending_version"> {
  readonly project_id: string;
}

/** $1 projects, $2 how many of each: their names in order, deleted ones too. */
export const READ_TOOL_NAMES: Statement = {
  name: "tools.read-names",
  text: `
select p.project_id, t.tool_name, t.status, t.version, t.deleted_by, t.pending_version
  from unnest($1::text[]) as p (project_id)
 cross join lateral (
   select x.tool_name, x.status, x.version, x.deleted_by, x.pending_version from resource.tools x
    where x.project_id = p.project_id and not x.internal
    order by x.project_id, x.tool_name limit $2::int) t`,
};

export interface FingerprintRow {
  readonly project_id: string;
  readonly fingerprint: string;
}

/** $1 projects. Tools that were deleted or wait for a person are not offered, so they are not part of it. */
export const READ_TOOL_FINGERPRINTS: Statement = {
  name: "tools.read-fingerprints",
  text: `
select p.project_id, t.fingerprint
  from unnest($1::text[]) as p (project_id)
 cross join lateral (
   select md5(coalesce(string_agg(x.tool_name || ' ' || x.definition_hash, ',' order by x.tool_name), '')) as fingerprint
     from resource.tools x
    where x.project_id = p.project_id and not x.internal and x.status <> 'deleted') t`,
};
