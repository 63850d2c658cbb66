// The tools of a host, in one form made from the two that hosts use. A schema that cannot be used is reported by name and left
// out; the others work.

import { isFilled, isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { isToolName, MAX_TOOL_NAME_LENGTH } from "../tools/tool-name.ts";

export interface HostTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

export interface RefusedHostTool {
  /** The name the schema gave, else its place in the list. */
  readonly name: string;
  readonly reason: string;
}

export interface HostTools {
  readonly tools: readonly HostTool[];
  readonly refused: readonly RefusedHostTool[];
}

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/** The wrapped form keeps everything under `function`; the plain form has it at the top. */
const unwrap = (schema: Record<string, unknown>): Record<string, unknown> =>
  isRecord(schema.function) ? schema.function : schema;

const faultOf = (tool: Record<string, unknown>): string | undefined => {
  if (!isFilled(tool.name)) return "it has no name";
  if (!isToolName(tool.name)) return `its name may have letters, digits, _ and - only, ${MAX_TOOL_NAME_LENGTH} at most`;
  if (tool.description !== undefined && tool.description !== null && typeof tool.description !== "string") {
    return "its description is not a text";
  }
  if (tool.parameters !== undefined && tool.parameters !== null && !isRecord(tool.parameters)) {
    return "its parameters are not a JSON Schema object";
  }
  return undefined;
};

/** One schema; a text says why it cannot be used. */
const readHostTool = (schema: unknown): HostTool | string => {
  if (!isRecord(schema)) return "it is not an object";
  const tool = unwrap(schema);
  const fault = faultOf(tool);
  if (fault !== undefined) return fault;
  return {
    name: tool.name as string,
    description: (tool.description ?? "") as string,
    parameters: (tool.parameters ?? NO_PARAMETERS) as JsonObject,
  };
};

const nameOf = (schema: unknown, index: number): string => {
  const tool = isRecord(schema) ? unwrap(schema) : {};
  return isFilled(tool.name) ? tool.name.slice(0, MAX_TOOL_NAME_LENGTH).toWellFormed() : `#${index}`;
};

/** The answer to get_tool_schemas; of two tools with the same name the first counts. */
export const readHostTools = (value: JsonValue): HostTools => {
  if (!Array.isArray(value)) return { tools: [], refused: [{ name: "*", reason: "the answer is not a list" }] };
  const tools: HostTool[] = [];
  const refused: RefusedHostTool[] = [];
  const seen = new Set<string>();
  for (const [index, schema] of (value as readonly JsonValue[]).entries()) {
    const read = readHostTool(schema);
    if (typeof read === "string") {
      refused.push({ name: nameOf(schema, index), reason: read });
    } else if (seen.has(read.name)) {
      refused.push({ name: read.name, reason: "another tool has the same name" });
    } else {
      seen.add(read.name);
      tools.push(read);
    }
  }
  return { tools, refused };
};
