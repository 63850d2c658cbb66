// The last check of a registration, separate because it may need a thread: the parameters compile, as they are written and as
// arguments are checked with them.

import { isToolplaneError, type JsonObject, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import { argumentsSchema, type CompileSchema } from "@toolplane/protocol/registry";

/** For `parseToolDefinition`, when the schema is checked afterwards. */
export const compiledLater: CompileSchema = () => () => [];

const isRefusal = ({ code }: ToolplaneError): boolean => code === "bad_request" || code === "payload_too_large";

export const admitParameters = async (
  definition: ToolDefinition,
  check: (schema: JsonObject) => Promise<unknown>,
): Promise<void> => {
  const { parameters } = definition;
  const held = argumentsSchema(definition);
  try {
    await check(parameters);
    if (held !== parameters) await check(held);
  } catch (error) {
    if (!isToolplaneError(error) || !isRefusal(error)) throw error;
    const why = error.message.slice(0, 500).toWellFormed();
    throw new ToolplaneError("bad_request", `parameters: not a valid JSON Schema: ${why}`, {
      detail: { path: "$.parameters" },
      cause: error,
    });
  }
};
