// `toolplane up`: passes its flags to the stack. A flag that was not given stays undefined: then the environment and the
// configuration file decide.

import type { Command } from "../command.ts";
import { parsePort } from "../flag-values.ts";

export const upCommand: Command = {
  name: "up",
  usage: "",
  least: 0,
  most: 0,
  options: ["data", "port", "host", "database-url", "nats-url", "roles", "config", "demo", "ephemeral"],
  summary: "run the server; SIGTERM or Ctrl-C drains it",
  async run({ flags, io }) {
    // Imported here: without the engine every other command starts in half the time.
    const { runUp } = await import("../../up/up.ts");
    return runUp(
      {
        port: parsePort(flags.port, "up"),
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
