// A module that only exports tools: toolplane-host derives everything else.

import { defineTool } from "@toolplane/sdk";

export const shout = defineTool({
  name: "shout",
  description: "Says it louder",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: async ({ text }) => ({ text: String(text).toUpperCase() }),
});
