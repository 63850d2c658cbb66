// The tool that is measured: it gives back what it gets, so what is left is the way to it and back.

import { defineTool, type Tool } from "@toolplane/sdk";
import { type Accounts, ranLine } from "./accounts.ts";

export const TARGET = "bench";
export const PROJECT = "bench";
export const TOOL = "bench_echo";
/** The same for every contestant: a sentence, as a model would pass it to a tool. */
export const ARGUMENTS = { text: "it was the best of times, it was the worst of times" };

/** As many as the highest level: a call never waits for a free place in the service. */
export const CONCURRENCY = 256;

export const createEcho = (accounts: Accounts): Tool =>
  defineTool({
    name: TOOL,
    description: "Give back what it gets",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const,
    retry: "safe",
    run: async (given, { call }) => {
      accounts.add(ranLine(call.toolCallId));
      return given;
    },
  });

/** A result is what was asked for, or the job was not done. */
export const checkEcho = (result: unknown): void => {
  const { text } = (result ?? {}) as { readonly text?: unknown };
  if (text !== ARGUMENTS.text) throw new RangeError(`the result is ${JSON.stringify(result)}`);
};
