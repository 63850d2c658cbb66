// sleep: waits, reports its progress, and stops when it is canceled. For trying out long calls.

import { defineTool, type Tool } from "@toolplane/sdk";
import { z } from "zod";
import { pause } from "./pause.ts";

const MAX_SECONDS = 3_600;
/** Longer than the longest sleep, so that a sleep of an hour does not meet its deadline. */
const TIMEOUT_SECONDS = MAX_SECONDS + 60;
const MAX_PARTS = 1_000;
const DEFAULT_PARTS = 10;

export const sleep: Tool = defineTool({
  name: "sleep",
  description: "Wait for some seconds, showing progress; can be canceled at any time.",
  parameters: z.strictObject({
    seconds: z.number().min(0).max(MAX_SECONDS).default(1),
    parts: z.int().min(1).max(MAX_PARTS).default(DEFAULT_PARTS).describe("How many times progress is shown"),
  }),
  retry: "safe",
  timeoutSeconds: TIMEOUT_SECONDS,
  run: async ({ seconds, parts }, { signal, emit }) => {
    for (let part = 1; part <= parts; part += 1) {
      await pause((seconds * 1_000) / parts, signal);
      emit({ slept_seconds: (seconds * part) / parts, of_seconds: seconds });
    }
    return { slept_seconds: seconds };
  },
});
