// word_count: `map` counts the words of a text, `reduce` adds up the results of several maps.

import { defineTool, type Tool, ToolError } from "@toolplane/sdk";
import { z } from "zod";
import { countWords, mergeCounts } from "./count-words.ts";

const DEFAULT_TOP_K = 50;
const MAX_TOP_K = 2_000;

const counted = z.object({ word: z.string(), count: z.int().min(0) });

export const wordCount: Tool = defineTool({
  name: "word_count",
  description:
    "Count words. mode map: the words of `text`. mode reduce: the sum of `parts`, each the result of a map. " +
    "The most frequent come first; words are lower-case and without punctuation at their edges.",
  parameters: z.strictObject({
    mode: z.enum(["map", "reduce"]).default("map"),
    text: z.string().optional().describe("What to count, for map"),
    parts: z
      .array(z.object({ words: z.array(counted) }))
      .optional()
      .describe("Results of earlier maps, for reduce"),
    top_k: z.int().min(1).max(MAX_TOP_K).default(DEFAULT_TOP_K).describe("How many words to give back"),
  }),
  retry: "safe",
  run: ({ mode, text, parts, top_k: topK }) => {
    if (mode === "map") {
      if (text === undefined) throw new ToolError("bad_request", "mode map needs text");
      return { mode, ...countWords(text, topK) };
    }
    if (parts === undefined) throw new ToolError("bad_request", "mode reduce needs parts");
    return { mode, ...mergeCounts(parts, topK) };
  },
});
