// A value that a person fixed must still fit the tool's schema. If a program's new schema refuses such a value, every call of the tool
// would fail, so that version waits for a person, like a version that weakens a guard (TU4).

import type { JsonValue, ToolDefinition } from "@toolplane/protocol";
import { type CheckValue, valueIssue } from "./given-values.ts";
import type { IncomingTool, Misfits } from "./plan-tools.ts";
import type { SchemaChecks } from "./schema-checks.ts";
import type { ToolRow } from "./tools.sql.ts";

const fixedOf = (definition: ToolDefinition): Readonly<Record<string, JsonValue>> =>
  definition.options.args?.fixed ?? {};

export const findMisfits = async (
  rows: readonly ToolRow[],
  incoming: readonly IncomingTool[],
  schemas: Pick<SchemaChecks, "check">,
): Promise<Misfits> => {
  const guards = new Map(rows.map((row) => [row.tool_name, row.guard_definition]));
  const misfits = new Map<IncomingTool, readonly string[]>();
  for (const item of incoming) {
    const text = item.asPerson ? undefined : guards.get(item.definition.tool_name);
    if (typeof text !== "string") continue;
    const guard = JSON.parse(text) as ToolDefinition;
    const check: CheckValue = (schema, value) => schemas.check(schema, value, item.projectId);
    const takes = async (definition: ToolDefinition, name: string, value: JsonValue): Promise<boolean> =>
      (await valueIssue(definition, name, value, check)) === undefined;
    const refused: string[] = [];
    for (const [name, value] of Object.entries(fixedOf(guard)))
      if (!(await takes(item.definition, name, value)) && (await takes(guard, name, value)))
        refused.push(`options.args.fixed.${name}`);
    if (refused.length > 0) misfits.set(item, refused);
  }
  return misfits;
};
