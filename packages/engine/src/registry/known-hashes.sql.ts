// Which definitions a tool has had.

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

const named = inputOf({
  projectId: given<string>("text"),
  toolName: given<string>("text"),
  definitionHash: given<string>("text"),
});

export type NamedDefinition = RowIn<typeof named>;

/** The positions of the hashes that are a version of the tool, whether or not it was ever in force. */
export const FIND_VERSIONS_BY_HASH: Statement = {
  name: "tools.find-versions-by-hash",
  text: `
select i.ord::int as ord
  from ${named.from}
 cross join lateral (
   select from resource.tool_versions v
    where v.project_id = i.project_id and v.tool_name = i.tool_name and v.definition_hash = i.definition_hash
   offset 0 limit 1) v`,
};

/**
 * The pinned definitions (`pin: strict`) that a service may run which names these hashes ($2) in project $1: those of the same code.
 * A person who changes options makes a new version of the same code.
 */
export const FIND_PINS: Statement = {
  name: "tools.find-pins",
  text: `
with codes as materialized (
  select v.code_hash
    from unnest($2::text[]) as n (hash)
   cross join lateral (
     select x.code_hash from resource.tool_versions x
      where x.project_id = $1 and x.definition_hash = n.hash offset 0) v
  union
  select unnest($2::text[])
)
select distinct v.definition_hash
  from codes c
 cross join lateral (
   select x.definition_hash, x.definition from resource.tool_versions x
    where x.project_id = $1 and x.code_hash = c.code_hash offset 0) v
 where v.definition::json -> 'options' ->> 'pin' = 'strict'`,
};

export const bindNamed = named.bind;
