// Every command of this version, in the order of the help.

import type { Command } from "./command.ts";
import { agentsCommands } from "./commands/agents.ts";
import { auditCommands } from "./commands/audit.ts";
import { batchesCommands } from "./commands/batches.ts";
import { callCommand } from "./commands/call.ts";
import { callsCommands } from "./commands/calls.ts";
import { cardsCommands } from "./commands/cards.ts";
import { conformCommand } from "./commands/conform.ts";
import { consoleCommands } from "./commands/console.ts";
import { deadCommands } from "./commands/dead.ts";
import { hostCommands } from "./commands/host.ts";
import { initCommand } from "./commands/init.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { profilesCommands } from "./commands/profiles.ts";
import { projectsCommands } from "./commands/projects.ts";
import { runCommand } from "./commands/run.ts";
import { servicesCommands } from "./commands/services.ts";
import { tailCommand } from "./commands/tail.ts";
import { tokenCommands } from "./commands/token.ts";
import { toolsCommands } from "./commands/tools.ts";
import { traceCommand } from "./commands/trace.ts";
import { turnsCommands } from "./commands/turns.ts";
import { upCommand } from "./commands/up.ts";
import { webhooksCommands } from "./commands/webhooks.ts";
import { whyCommand } from "./commands/why.ts";

export const COMMANDS: readonly Command[] = [
  upCommand,
  callCommand,
  runCommand,
  whyCommand,
  ...callsCommands,
  ...turnsCommands,
  ...toolsCommands,
  ...deadCommands,
  ...profilesCommands,
  ...agentsCommands,
  ...projectsCommands,
  ...tokenCommands,
  ...consoleCommands,
  ...auditCommands,
  ...webhooksCommands,
  ...servicesCommands,
  ...cardsCommands,
  ...batchesCommands,
  traceCommand,
  tailCommand,
  conformCommand,
  mcpCommand,
  ...hostCommands,
  initCommand,
];

/** Announced commands that are not built yet: they say so instead of being unknown. */
export const LATER_COMMANDS: ReadonlySet<string> = new Set(["verify", "export", "import", "doctor", "completion"]);
