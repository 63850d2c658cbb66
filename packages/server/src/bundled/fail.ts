// fail: fails on purpose, in the way it is asked to. For trying out what callers see.

import { defineTool, type Tool, ToolError } from "@toolplane/sdk";
import { z } from "zod";
import { pause } from "./pause.ts";

const MAX_SECONDS = 600;
const TIMEOUT_SECONDS = MAX_SECONDS + 60;

export const fail: Tool = defineTool({
  name: "fail",
  description:
    "Fail on purpose with a code and a message. A code the error table calls retryable is tried again, " +
    "and with `times` the try after that many failures succeeds.",
  parameters: z.strictObject({
    code: z.string().min(1).max(64).default("tool_error"),
    message: z.string().max(1_000).default("it failed on purpose"),
    retryable: z.boolean().optional().describe("What the error says about trying again; by its code unless given"),
    times: z.int().min(1).max(100).optional().describe("Fail only the first so many tries of a call"),
    after_seconds: z.number().min(0).max(MAX_SECONDS).default(0).describe("Wait before failing"),
  }),
  retry: "safe",
  timeoutSeconds: TIMEOUT_SECONDS,
  run: async ({ code, message, retryable, times, after_seconds: afterSeconds }, { signal, call }) => {
    if (afterSeconds > 0) await pause(afterSeconds * 1_000, signal);
    if (times !== undefined && call.attempt > times) return { attempts: call.attempt };
    throw new ToolError(code, message, retryable === undefined ? {} : { retryable });
  },
});
