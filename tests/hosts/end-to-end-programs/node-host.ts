// A Node host for the tests: counts in its session, streams, fails, dies, and answers with what nobody should pass on.

import { setTimeout as delay } from "node:timers/promises";
import { type HostPlugin, runHost } from "@toolplane/sdk/host";

const anything = { type: "object", properties: {} } as const;
const NAMES = [
  "count",
  "stream",
  "say_no",
  "throw",
  "slow",
  "slow_safe",
  "die",
  "control",
  "leak",
  "nul",
  "surrogate",
  "huge",
];

const plugin: HostPlugin<{ count: number; greeting: string }> = {
  init: (config) => ({ count: 0, greeting: String(config.greeting ?? "hello") }),
  getConfigSchema: () => ({
    type: "object",
    properties: { greeting: { type: "string" }, level: { type: "integer" } },
    additionalProperties: false,
  }),
  getToolSchemas: () => [
    ...NAMES.map((name) => ({ name, description: `${name}, for tests`, parameters: anything })),
    { type: "function", function: { name: "wrapped", description: "the other form", parameters: anything } },
    { name: "broken", description: "a schema that is none", parameters: { type: "no such type" } },
  ],
  requiredTags: () => ["tools"],
  getTags: () => ["text"],
  formatToolResult: ({ result }) => {
    const inner = (result as { result?: { envelope?: boolean } | null }).result;
    return inner?.envelope === true
      ? { type: "provider_native_tool_result", format: "openai.responses", output: [] }
      : `for models: ${JSON.stringify(inner)}`;
  },
  formatToolCallPreview: ({ toolName, arguments: args }) => `${toolName} with ${Object.keys(args).length} arguments`,
  toDisplayFormat: ({ text }) => ({ title: "Result", text }),
  async executeTool({ toolName, arguments: args, state, emit }) {
    switch (toolName) {
      case "count":
        if (args.fail === true) return { success: false, error: "told to fail", state: { ...state, count: -1_000 } };
        state.count += 1;
        return { success: true, result: { count: state.count, greeting: state.greeting } };
      case "stream":
        for (let n = 0; n < 5; n++) await emit({ n });
        return { success: true, result: "streamed" };
      case "say_no":
        return { success: false, error: "the tool says no" };
      case "throw":
        throw new RangeError("out of range");
      case "slow":
      case "slow_safe":
        await delay(Number(args.ms ?? 50));
        return { success: true, result: { slept: true, n: args.n ?? null, pid: process.pid } };
      case "die":
        process.kill(process.pid, "SIGKILL");
        return delay(60_000, { success: true });
      case "control":
        return { success: true, result: { kept: 1, __cg_control: { after_execution: "terminate" }, __cg_other: 2 } };
      case "leak":
        await emit({ part: process.env.HOST_SECRET ?? "unset" });
        process.stderr.write(`the secret is ${process.env.HOST_SECRET}\n`);
        return {
          success: true,
          result: { secret: process.env.HOST_SECRET ?? null, other: process.env.NOT_ALLOWED ?? null },
        };
      case "nul":
        return { success: true, result: { text: "a\u0000b" } };
      case "surrogate":
        return { success: true, result: { text: "\ud800" } };
      case "huge":
        return { success: true, result: "x".repeat(3_000_000) };
      case "wrapped":
        return { success: true, result: { envelope: args.envelope === true, toolName } };
      default:
        return { success: false, error: `there is no tool ${toolName}` };
    }
  },
};

await runHost(plugin);
