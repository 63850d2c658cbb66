// The stored form of a tool definition: what a row holds, what a call is pinned to, what the hash is made over.
// How an upload becomes one is parse-definition.ts.

import { z } from "zod";
import { jsonObject } from "../json/json-schemas.ts";
import { AFTER_EXECUTIONS } from "../results/value-sets.ts";
import { toolOptionsSchema } from "./options.ts";

/** Longer ones crowd out the conversation they are shown in. */
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
