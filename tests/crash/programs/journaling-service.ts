// A tool service whose tools write down what they do before they answer, so that a run that was repeated can be counted.

import { setTimeout as delay } from "node:timers/promises";
import { defineTool, serveTools, silentLog } from "@toolplane/sdk";
import { openJournal } from "@toolplane/testkit";

const [url = "", token = "", path = ""] = process.argv.slice(2);
const journal = openJournal(path);

/** A few milliseconds: a process that is killed at any moment has calls in its hands. */
const WORK_MS = 5;

const numbered = (name: "safe" | "unsafe") =>
  defineTool({
    name,
    description: "Says which number it was given",
    parameters: { type: "object", properties: { n: { type: "number" } } } as const,
    retry: name === "safe" ? "safe" : "never",
    run: async ({ n }, { call }) => {
      await delay(WORK_MS);
      journal.write({ what: "effect", call: call.toolCallId, attempt: call.attempt, by: String(process.pid) });
      await delay(WORK_MS);
      return { n };
    },
  });

const options = { url, token, project: "demo", target: "test", concurrency: 64, handleSignals: false } as const;
await serveTools([numbered("safe"), numbered("unsafe")], {
  ...options,
  startupMs: Number.POSITIVE_INFINITY,
  log: silentLog,
});
process.stdout.write("{}\n");
