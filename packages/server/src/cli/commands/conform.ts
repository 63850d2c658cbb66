// `toolplane conform`: passes its flags to the conformance kit. It needs no plane, because it plays the plane itself.

import type { Command } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { parsePort } from "../flag-values.ts";
import type { CliIo } from "../io.ts";
import { WrongUsage } from "../wrong-usage.ts";

const NAME = "conform";

const BY_NAME = "env:";

/** Every user of the machine can read the arguments of a process, so an address with a password comes from a variable. */
const natsAddress = (flag: string | undefined, env: CliIo["env"]): string | undefined => {
  if (flag === undefined) return undefined;
  if (flag.startsWith(BY_NAME)) {
    const address = env[flag.slice(BY_NAME.length)];
    if (address === undefined || address === "")
      throw new WrongUsage(`--nats-url ${flag}: the variable is not set`, NAME);
    return address;
  }
  if (flag.includes("@"))
    throw new WrongUsage(
      "--nats-url holds a user or a token, which every user of this machine can read in the list of processes: put the address into a variable and write --nats-url env:NAME",
      NAME,
    );
  return flag;
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
    // Imported here, because it loads the engine's rules for definitions.
    const { runConform } = await import("../../conform/run-conform.ts");
    return runConform(
      {
        target: flags.target,
        http: flags.http === true,
        natsUrl: natsAddress(flags["nats-url"], io.env),
        port: parsePort(flags.port, NAME),
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
