// Tools that do what tools should not: hang, answer with things that are not JSON, answer with too much, take their time.

import { appendFileSync } from "node:fs";
import { defineTool, serveTools } from "@toolplane/sdk";

const object = { type: "object", properties: { n: { type: "number" } } } as const;
const effect = (name: string): void => appendFileSync(process.env.EFFECTS ?? "/dev/null", `${name}\n`);
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

const tools = [
  defineTool({
    name: "hang_safe",
    description: "Ends unless it is told to hang; may run again",
    parameters: object,
    retry: "safe",
    options: { timeout_seconds: 120 },
    run: (_, { signal }) => {
      effect("hang_safe");
      say("started hang_safe");
      return process.env.HANG === "yes" ? untilAborted(signal) : Promise.resolve({ finished_by: process.pid > 0 });
    },
  }),
  defineTool({
    name: "hang_unsafe",
    description: "Starts and never ends; must not run again",
    parameters: object,
    options: { timeout_seconds: 120 },
    run: (_, { signal }) => {
      effect("hang_unsafe");
      say("started hang_unsafe");
      return untilAborted(signal);
    },
  }),
  defineTool({
    name: "hang_then_tell",
    description: "Waits until it is told to stop and says so",
    parameters: object,
    options: { timeout_seconds: 120 },
    run: async (_, { signal }) => {
      say("started hang_then_tell");
      await untilAborted(signal).catch(() => say("aborted hang_then_tell"));
      return {};
    },
  }),
  defineTool({
    name: "too_slow",
    description: "Takes longer than its deadline",
    parameters: object,
    options: { timeout_seconds: 1 },
    run: (_, { signal }) => untilAborted(signal),
  }),
  defineTool({
    name: "no_json",
    description: "Gives a function back",
    parameters: object,
    run: async () => ({ f: () => 1 }) as never,
  }),
  defineTool({
    name: "too_much",
    description: "Gives 20 MB back",
    parameters: object,
    run: async () => "x".repeat(20 * 1024 * 1024),
  }),
  defineTool({
    name: "once",
    description: "Counts its effects",
    parameters: object,
    run: async ({ n }) => {
      effect(`once ${n}`);
      return { n: n ?? null };
    },
  }),
  defineTool({
    name: "picky",
    description: "Refuses the number four",
    parameters: object,
    run: async ({ n }) => {
      if (n === 4) throw new RangeError("four is poison");
      return { n: n ?? null };
    },
  }),
];

await serveTools(tools, { target: "odd" });
say("serving");
