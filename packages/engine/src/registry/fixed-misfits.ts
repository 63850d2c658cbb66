// What a person fixed must still be a value that the tool takes. A program whose new schema refuses such a value would make every
// call of the tool fail; such a version waits for a person, as one does that weakens a guard (TU4).

import { isRecord, type JsonObject, type ToolDefinition } from "@toolplane/protocol";
import type { IncomingTool, Misfits } from "./plan-tools.ts";
import type { SchemaChecks } from "./schema-checks.ts";
import type { ToolRow } from "./tools.sql.ts";

/** The schema of one parameter, with what it may refer to. */
const schemaOf = ({ parameters }: ToolDefinition, name: string): JsonObject | undefined => {
  const { properties, $defs, definitions, $schema } = parameters as Readonly<Record<string, never>>;
  if (!isRecord(properties) || !Object.hasOwn(properties, name)) return undefined;
  const kept = Object.entries({ $schema, $defs, definitions }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(kept), type: "object", properties: { [name]: properties[name] } } as JsonObject;
};

const fixedOf = (definition: ToolDefinition): Readonly<Record<string, unknown>> => definition.options.args?.fixed ?? {};

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
    const takes = async (definition: ToolDefinition, name: string, value: unknown): Promise<boolean> => {
      const schema = schemaOf(definition, name);
      return schema === undefined || (await schemas.check(schema, { [name]: value }, item.projectId)).length === 0;
    };
    const refused: string[] = [];
    for (const [name, value] of Object.entries(fixedOf(guard)))
      if (!(await takes(item.definition, name, value)) && (await takes(guard, name, value)))
        refused.push(`options.args.fixed.${name}`);
    if (refused.length > 0) misfits.set(item, refused);
  }
  return misfits;
};
