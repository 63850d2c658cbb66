// Why tools failed, in the words of their programs. Read for operators only.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

export interface DiagnosticsWrite {
  readonly projectId: string;
  readonly toolCallId: string;
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

const rows = setInput<DiagnosticsWrite>([
  ["projectId", "text"],
  ["toolCallId", "text"],
  ["name", "text"],
  ["message", "text"],
  ["stack", "text"],
]);

export const bindDiagnostics = rows.bind;

export const WRITE_DIAGNOSTICS: Statement = {
  name: "diagnostics.write",
  text: `
insert into state.call_diagnostics (project_id, tool_call_id, name, message, stack)
select project_id, tool_call_id, name, message, stack from ${rows.from}
on conflict do nothing`,
};

export interface DiagnosticsRow {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/** $1 project, $2 call. */
export const READ_DIAGNOSTICS: Statement = {
  name: "diagnostics.read",
  text: "select name, message, stack from state.call_diagnostics where project_id = $1 and tool_call_id = $2",
};
