// Reading definitions for dispatch: many at once, by primary key.

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

export type ToolStatus = "active" | "paused" | "deleted";

export interface DefinitionRow {
  readonly ord: number;
  readonly version: number;
  readonly definition_hash: string;
  readonly status: ToolStatus;
  readonly definition: string;
}

const asked = inputOf({
  projectId: given<string>("text"),
  toolName: given<string>("text"),
  /** null: the current one, if the tool was not deleted. */
  version: given<number | null>("integer"),
});

export type DefinitionAsk = RowIn<typeof asked>;

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
