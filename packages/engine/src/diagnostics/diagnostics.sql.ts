// Why tools failed, in the words of their programs. Read for operators only.

import { given, inputOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

const rows = inputOf({
  projectId: given<string>("text"),
  toolCallId: given<string>("text"),
  name: given<string>("text"),
  message: given<string>("text"),
  stack: given<string>("text"),
});

export const bindDiagnostics = rows.bind;

export const WRITE_DIAGNOSTICS: Statement = {
  name: "diagnostics.write",
  text: `
insert into state.call_diagnostics (project_id, tool_call_id, name, message, stack)
select project_id, tool_call_id, name, message, stack from ${rows.from}
on conflict do nothing`,
};

/** $1 project, $2 call. */
export const READ_DIAGNOSTICS: Statement = {
  name: "diagnostics.read",
  text: "select name, message, stack from state.call_diagnostics where project_id = $1 and tool_call_id = $2",
};
