// Uses of control keys, for the audit: a tool's result that decides about its agent's turn (`__cg_control`, I11), and foreign
// bodies that tried to and lost the keys. A result without such keys costs one look at its top level.

import { CONTROL_PREFIX, isRecord, readOverride, type ToolResultContent } from "@toolplane/protocol";
import type { Act, Actor } from "../audit/audit.ts";
import type { ControlUse, SettleRow } from "./settle.sql.ts";

/** At most so many keys are recorded: they are foreign text, and only a few keys have a meaning. */
const MAX_KEYS = 8;
const MAX_KEY_LENGTH = 64;

const shown = (keys: readonly string[]): string[] => keys.slice(0, MAX_KEYS).map((key) => key.slice(0, MAX_KEY_LENGTH));

export const findControlUse = (
  toolName: string,
  { result }: ToolResultContent,
  stripped: readonly string[] = [],
): ControlUse | undefined => {
  const used = isRecord(result) ? Object.keys(result).filter((key) => key.startsWith(CONTROL_PREFIX)) : [];
  if (used.length === 0 && stripped.length === 0) return undefined;
  return { toolName, used: shown(used), afterExecution: readOverride(result), stripped: shown(stripped) };
};

/** The plane's own tools (`sys.`) relay no foreign text. */
const actorOf = ({ settledBy }: SettleRow): Actor | undefined =>
  settledBy.startsWith("tool.") ? { door: "service", tokenId: null, role: "tool", actor: settledBy } : undefined;

export const controlActs = (row: SettleRow): (Act & { readonly by: Actor })[] => {
  const by = actorOf(row);
  if (row.control === undefined || by === undefined) return [];
  const { toolName, used, stripped, afterExecution = null } = row.control;
  const about = { by, projectId: row.projectId, subject: row.toolCallId };
  const detail = { tool_name: toolName };
  return [
    ...(used.length === 0
      ? []
      : [
          {
            ...about,
            act: "control.used" as const,
            detail: { ...detail, keys: [...used], after_execution: afterExecution },
          },
        ]),
    ...(stripped.length === 0
      ? []
      : [{ ...about, act: "control.stripped" as const, detail: { ...detail, keys: [...stripped] } }]),
  ];
};
