// `toolplane up`: passes its flags to the stack. A flag that was not given stays undefined: then the environment and the
// configuration file decide.

import type { Command } from "../command.ts";
import { WrongUsage } from "../wrong-usage.ts";

const MAX_PORT = 65_535;

const parsePort = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const port = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT)
    throw new WrongUsage(`--port takes a number from 0 (any free one) to ${MAX_PORT}, not "${text}"`, "up");
  return port;
};

export const upCommand: Command = {
  name: "up",
  usage: "",
  least: 0,
  most: 0,
  options: ["port", "host", "database-url", "nats-url", "roles", "config", "demo", "ephemeral"],
  summary: "run the server; SIGTERM or Ctrl-C drains it",
  async run({ flags, io }) {
    // Imported here: without the engine every other command starts in half the time.
    const { runUp } = await import("../../up/up.ts");
    return runUp(
      {
        port: parsePort(flags.port),
        host: flags.host,
        data: flags.data,
        databaseUrl: flags["database-url"],
        natsUrl: flags["nats-url"],
        roles: flags.roles?.split(","),
        config: flags.config,
        demo: flags.demo,
        ephemeral: flags.ephemeral,
        verbose: flags.verbose,
      },
      io,
    );
  },
};
