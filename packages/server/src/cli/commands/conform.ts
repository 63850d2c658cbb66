// `toolplane conform`: hands its flags to the conformance kit. It needs no plane: it is one for as long as it runs.

import type { Command } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { WrongUsage } from "../wrong-usage.ts";

const NAME = "conform";
const MAX_PORT = 65_535;

const parsePort = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const port = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT)
    throw new WrongUsage(`--port takes a number from 0 (any free one) to ${MAX_PORT}, not "${text}"`, NAME);
  return port;
};

export const conformCommand: Command = {
  name: NAME,
  usage: "--target NAME (--http | --nats-url URL) [-- COMMAND...]",
  least: 0,
  most: Number.POSITIVE_INFINITY,
  options: ["target", "http", "nats-url", "port", "tool", "arguments", "timeout"],
  summary: "drive a tool service through the protocol's rules, pass or fail for each",
  async run({ args, flags, io }) {
    if (flags.target === undefined) throw new WrongUsage("say which target the service claims for: --target", NAME);
    // Loaded here: it brings the engine's rules for definitions along.
    const { runConform } = await import("../../conform/run-conform.ts");
    return runConform(
      {
        target: flags.target,
        http: flags.http === true,
        natsUrl: flags["nats-url"],
        port: parsePort(flags.port),
        tool: flags.tool,
        arguments: flags.arguments,
        json: flags.json,
        verbose: flags.verbose,
        timeoutMs: flags.timeout === undefined ? undefined : parseDuration(flags.timeout, "--timeout"),
        command: args,
      },
      io,
    );
  },
};
