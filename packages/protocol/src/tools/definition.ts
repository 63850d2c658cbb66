// The stored form of a tool definition: the content of a row, what a call is pinned to, what is hashed. parse-definition.ts
// turns an upload into one.

import { z } from "zod";
import { jsonObject } from "../json/json-schemas.ts";
import { AFTER_EXECUTIONS } from "../results/value-sets.ts";
import { toolOptionsSchema } from "./options.ts";

/** Longer descriptions would take too much of a model's context. */
const MAX_DESCRIPTION_LENGTH = 16_384;

export const toolDescription = z.string().max(MAX_DESCRIPTION_LENGTH);

export const toolDefinitionSchema = z.strictObject({
  tool_name: z.string(),
  description: toolDescription,
  parameters: jsonObject,
  target_subject: z.string(),
  after_execution: z.enum(AFTER_EXECUTIONS),
  options: toolOptionsSchema,
});

export type ToolDefinition = Readonly<z.infer<typeof toolDefinitionSchema>>;
