// A service in a process of its own that takes calls and never ends them, so that it can be killed in the middle.
// argv: address, target. Says {"started": tool_call_id} for each call.

import { defineTool, serveTools, silentLog } from "@toolplane/sdk";

const [url = "", target = ""] = process.argv.slice(2);

const hanging = (name: string, retry: "safe" | "never") =>
  defineTool({
    name,
    description: "Begins and does not end",
    parameters: { type: "object", properties: {} } as const,
    retry,
    run: (_args, { call }) => {
      process.stdout.write(`${JSON.stringify({ started: call.toolCallId })}\n`);
      return new Promise(() => {});
    },
  });

await serveTools([hanging("repeatable", "safe"), hanging("unrepeatable", "never")], { url, target, log: silentLog });
process.stdout.write(`${JSON.stringify({ serving: target })}\n`);
