// Definitions to register in tests.

import type { JsonObject } from "@toolplane/protocol";

export const sampleTool = (toolName: string, changes: JsonObject = {}): JsonObject => ({
  tool_name: toolName,
  description: "Counts words",
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.run",
  after_execution: "suspend",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  options: {},
  ...changes,
});
