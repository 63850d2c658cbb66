// The tools of a project without their definitions, which may be megabytes. Requests of the same moment share a statement: an error
// about an unknown tool, or a stream that watches for changes, costs the same for one item as for hundreds.

import { createCoalescer } from "../coalescer/coalescer.ts";
import type { Database } from "../sql/database.ts";
import { type FingerprintRow, READ_TOOL_FINGERPRINTS, READ_TOOL_NAMES, type ToolNameRow } from "./tool-outlines.sql.ts";
import { isUnaccepted, type RegisteredTool } from "./tool-view.ts";

export interface ToolName {
  readonly toolName: string;
  readonly status: RegisteredTool["status"];
  /** The version that waits for a person. */
  readonly pendingVersion: number | undefined;
}

export interface ToolOutlines {
  /** Names in order, deleted ones too; of a project with very many tools the first ones. */
  toolNames(projectId: string): Promise<readonly ToolName[]>;
  /** Changes when a tool is offered, is no longer offered, or has another definition. */
  fingerprint(projectId: string): Promise<string>;
}

/** As many as a person could look through for a mistyped name. */
const MOST_NAMES = 2_000;

export const createToolOutlines = (db: Database): ToolOutlines => {
  const names = createCoalescer<string, readonly ToolName[]>({
    async flush(projectIds) {
      const rows = await db.query<ToolNameRow>(READ_TOOL_NAMES, [[...new Set(projectIds)], MOST_NAMES]);
      const byProject = Map.groupBy(rows, (row) => row.project_id);
      return projectIds.map((projectId) =>
        (byProject.get(projectId) ?? []).map((row) => ({
          toolName: row.tool_name,
          status: isUnaccepted(row) ? "pending" : row.status,
          pendingVersion: row.pending_version ?? undefined,
        })),
      );
    },
  });
  const fingerprints = createCoalescer<string, string>({
    async flush(projectIds) {
      const rows = await db.query<FingerprintRow>(READ_TOOL_FINGERPRINTS, [[...new Set(projectIds)]]);
      const byProject = new Map(rows.map((row) => [row.project_id, row.fingerprint]));
      return projectIds.map((projectId) => byProject.get(projectId) ?? "");
    },
  });
  return {
    toolNames: (projectId) => names.submit(projectId),
    fingerprint: (projectId) => fingerprints.submit(projectId),
  };
};
