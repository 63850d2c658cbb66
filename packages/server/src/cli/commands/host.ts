// `toolplane host check`: needs no server; it starts the host itself.

import type { Command } from "../command.ts";
import { parseDuration } from "../duration.ts";

export const hostCommands: readonly Command[] = [
  {
    name: "host check",
    usage: "-- COMMAND...",
    least: 1,
    most: Number.POSITIVE_INFINITY,
    options: ["host-config", "tool", "arguments", "timeout"],
    summary: "drive a tool host through the protocol's rules, pass or fail for each",
    async run({ args, flags, io }) {
      // Imported here, because only this command needs it.
      const { runHostCheck } = await import("../../hosts/check/run-check.ts");
      return runHostCheck(
        {
          command: args,
          config: flags["host-config"],
          tool: flags.tool,
          arguments: flags.arguments,
          timeoutMs: flags.timeout === undefined ? undefined : parseDuration(flags.timeout, "--timeout"),
          json: flags.json,
          verbose: flags.verbose,
        },
        io,
      );
    },
  },
];
