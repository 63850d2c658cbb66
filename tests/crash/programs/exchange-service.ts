// A tool service whose tool takes no time, so that many results are ready at once and travel together.

import { defineTool, serveTools, silentLog } from "@toolplane/sdk";

const [url = "", token = ""] = process.argv.slice(2);
const safe = defineTool({
  name: "safe",
  description: "Says which number it was given",
  parameters: { type: "object", properties: { n: { type: "number" } } } as const,
  retry: "safe",
  run: async ({ n }) => ({ n }),
});
const options = { url, token, project: "demo", target: "test", concurrency: 64, handleSignals: false } as const;
await serveTools([safe], { ...options, startupMs: Number.POSITIVE_INFINITY, log: silentLog });
process.stdout.write("{}\n");
