// Reading definitions for dispatch: many at once, by primary key.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

export type ToolStatus = "active" | "paused" | "deleted";

export interface DefinitionRow {
  readonly ord: number;
  readonly version: number;
  readonly definition_hash: string;
  readonly status: ToolStatus;
  readonly definition: string;
}

export interface DefinitionAsk {
  readonly projectId: string;
  readonly toolName: string;
  /** null: the current one, if the tool was not deleted. */
  readonly version: number | null;
}

const asked = setInput<DefinitionAsk>([
  ["projectId", "text"],
  ["toolName", "text"],
  ["version", "integer"],
]);

export const bindDefinitionAsks = asked.bind;

export const READ_DEFINITIONS: Statement = {
  name: "registry.read-definitions",
  text: `
select i.ord::int as ord, v.version, v.definition_hash, t.status, v.definition
  from ${asked.from}
  join resource.tools t on t.project_id = any (array[i.project_id]) and t.tool_name = i.tool_name
  join resource.tool_versions v
    on v.project_id = any (array[t.project_id]) and v.tool_name = t.tool_name and v.version = coalesce(i.version, t.version)
 where i.version is not null or t.status <> 'deleted'`,
};
