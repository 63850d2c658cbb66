// A tool in five lines, written as the README shows it.
// biome-ignore-all format: five lines
// biome-ignore-all lint/correctness/noUnusedFunctionParameters: the example shows what a tool may ask for

import { defineTool, serveTools } from "@toolplane/sdk";
import { z } from "zod";

const countWords = defineTool({
  name: "count_words", description: "Count the words of a text", parameters: z.object({ text: z.string() }), retry: "safe",
  run: async ({ text }, { signal, emit, idempotencyKey, secrets, log }) => ({ words: text.split(/\s+/).filter(Boolean).length }),
});
await serveTools([countWords], { target: "text" });   // TOOLPLANE_URL, TOOLPLANE_TOKEN, TOOLPLANE_PROJECT
