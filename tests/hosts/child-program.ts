// A program that is a tool host by itself.

import { type HostOutcome, runHost } from "@toolplane/sdk/host";

await runHost({
  getToolSchemas: () => [{ name: "greet" }],
  executeTool: ({ arguments: { name } }): HostOutcome => {
    // biome-ignore lint/suspicious/noConsole: what a host must keep out of the protocol
    console.log("stray greeting");
    return { success: true, result: `Hello, ${String(name)}` };
  },
});
