// The tool that is measured: it does next to nothing, so what is left is the way to it and back.

import { defineTool, type Tool } from "@toolplane/sdk";

export const TARGET = "bench";

export const countWords: Tool = defineTool({
  name: "count_words",
  description: "Count the words of a text",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const,
  retry: "safe",
  run: async ({ text }) => ({ words: text.split(" ").length }),
});

export const ARGUMENTS = { text: "it was the best of times, it was the worst of times" };
