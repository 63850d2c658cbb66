// echo: returns its arguments. It is the first tool that most users call.

import { defineTool, type Tool } from "@toolplane/sdk";

export const echo: Tool = defineTool({
  name: "echo",
  description: "Give back the arguments as they came.",
  parameters: { type: "object", description: "Anything." },
  retry: "safe",
  run: (args) => args,
});
