// Tools whose effects are counted outside: each run writes one line to the journal, somewhere in the middle of its work.
// It serves over HTTP or NATS, whatever TOOLPLANE_URL says.

import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineTool, serveTools, type ToolContext } from "@toolplane/sdk";

const { TARGET = "chaos", JOURNAL = "/dev/null" } = process.env;
const object = { type: "object", properties: { n: { type: "number" } } } as const;
/** Long enough to be killed in, on either side of the effect. */
const WORK_MS = 40;

const work = async (n: number | undefined, { call, signal }: ToolContext): Promise<{ readonly n: number | null }> => {
  await delay(Math.random() * WORK_MS, undefined, { signal });
  const line = { what: "effect", call: call.toolCallId, attempt: 1, by: `${TARGET} ${process.pid}` };
  appendFileSync(JOURNAL, `${JSON.stringify(line)}\n`);
  await delay(Math.random() * WORK_MS, undefined, { signal });
  return { n: n ?? null };
};

const tools = (["safe", "never"] as const).map((retry) =>
  defineTool({
    name: `${TARGET}_${retry === "safe" ? "safe" : "unsafe"}`,
    description: "Writes one line to the journal",
    parameters: object,
    retry,
    options: { timeout_seconds: 120 },
    run: async ({ n }, context) => work(typeof n === "number" ? n : undefined, context),
  }),
);

const service = await serveTools(tools, { target: TARGET, concurrency: 16 });
process.stdout.write("serving\n");
process.once("SIGTERM", () => void service.stop());
