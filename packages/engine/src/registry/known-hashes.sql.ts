// Which definitions a tool has had.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

export interface NamedDefinition {
  readonly projectId: string;
  readonly toolName: string;
  readonly definitionHash: string;
}

const named = setInput<NamedDefinition>([
  ["projectId", "text"],
  ["toolName", "text"],
  ["definitionHash", "text"],
]);

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

export const bindNamed = (rows: readonly NamedDefinition[]): unknown[] => named.bind(rows);
