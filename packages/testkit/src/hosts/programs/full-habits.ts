// Hosts that offer everything: every optional method, some tools with bad schemas, and what they were started with.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { answer, answerLine, type Habit, type HostCall, raw, refuse } from "./host-side.ts";

const value = (call: HostCall, said: unknown): void => raw(answerLine(call.id, said, call.params.state));

const attempt = (run: () => unknown): string => {
  try {
    run();
    return "done";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "failed";
  }
};

const TOOLS = [
  { name: "bad", description: "plain form", parameters: { type: "object", properties: { a: { type: "string" } } } },
  { type: "function", function: { name: "wrapped", description: "the other form" } },
  { name: "echo" },
  { name: "no good" },
  { name: "odd", parameters: { type: "object", properties: { a: { type: "strange" } } } },
  { name: "bad" },
  "text",
];

export const FULL_HABITS = {
  full: {
    init: (call) => raw(answerLine(call.id, null, { greeting: call.params.config?.greeting ?? "hello" })),
    bad: (call) => answer(call, { state: call.params.state }),
    methods: {
      get_tool_schemas: (call) => value(call, TOOLS),
      get_config_schema: (call) =>
        value(call, {
          type: "object",
          properties: { greeting: { type: "string" } },
          required: ["greeting"],
          additionalProperties: false,
        }),
      get_ui_elements: (call) => value(call, [{ id: "greeting", kind: "text" }]),
      get_tags: (call) => value(call, [`models:${call.params.models?.length}`]),
      required_tags: (call) => value(call, ["text"]),
      format_tool_result: (call) => value(call, call.params.result),
      format_tool_call_preview: (call) => value(call, `${call.params.tool_name}(${call.params.state?.greeting})`),
      to_display_format: (call) => value(call, { text: call.params.text, result: call.params.result }),
    },
  },
  /** Optional methods that fail or answer nonsense. */
  clumsy: {
    bad: (call) => answer(call, "fine"),
    methods: {
      get_tags: (call) => refuse(call.id, "ValueError", "no tags today"),
      required_tags: (call) => value(call, "not a list"),
      format_tool_result: (call) => refuse(call.id, "ValueError", "cannot format"),
    },
  },
  /** Says what it was started with and what it may do. */
  revealing: {
    bad: (call) => {
      const { read = "", write = "" } = (call.params.arguments ?? {}) as Record<string, string>;
      answer(call, {
        argv: process.argv.slice(2),
        env: Object.keys(process.env).sort(),
        cwd: process.cwd(),
        node: process.execPath,
        pid: process.pid,
        id: call.id,
        read: attempt(() => readFileSync(read)),
        write: attempt(() => writeFileSync(write, "x")),
        spawn: attempt(() => {
          const { error } = spawnSync(process.execPath, ["--version"]);
          if (error !== undefined) throw error;
        }),
      });
    },
  },
} as const satisfies Record<string, Habit>;
