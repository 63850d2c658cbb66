// Text tools: three tools made with defineTool. Everything a host must answer is derived from them.
//
//     npx toolplane-host examples/hosts/text-tools.ts

import { defineTool, ToolError } from "@toolplane/sdk";
import { z } from "zod";

const text = z.string().describe("The text");

export const countWords = defineTool({
  name: "count_words",
  description: "Count the words of a text",
  parameters: z.object({ text }),
  run: ({ text }) => ({ words: text.split(/\s+/).filter(Boolean).length }),
});

export const slugify = defineTool({
  name: "slugify",
  description: "Make a text fit for a URL",
  parameters: z.object({ text }),
  run: ({ text }) => {
    const slug = text
      .normalize("NFKD")
      .toLowerCase()
      .split(/[^a-z0-9]/)
      .filter(Boolean)
      .join("-");
    // How a tool says no: the caller gets the sentence, not a stack.
    if (slug === "") throw new ToolError("bad_request", "nothing of this text can stand in a URL");
    return { slug };
  },
});

export const findLines = defineTool({
  name: "find_lines",
  description: "Find the lines of a text that contain a word",
  parameters: z.object({ text, word: z.string().min(1), limit: z.number().int().positive().default(10) }),
  run: ({ text, word, limit }) => ({
    lines: text
      .split("\n")
      .map((line, index) => ({ number: index + 1, line }))
      .filter(({ line }) => line.includes(word))
      .slice(0, limit),
  }),
});
