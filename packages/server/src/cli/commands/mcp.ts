// `toolplane mcp`: an MCP server on stdio for desktop clients, which start it as a program. It runs no tool: it carries the messages
// to a running server and its answers back.

import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { createMcpProxy } from "../mcp-proxy.ts";

export const mcpCommand: Command = {
  name: "mcp",
  usage: "",
  least: 0,
  most: 0,
  options: ["project", "tool", "agents"],
  summary: "an MCP server on stdio: the project's tools for a desktop client",
  async run({ io, client, project, flags }) {
    const proxy = createMcpProxy({
      client,
      project,
      tools: flags.tool,
      agents: flags.agents,
      write: (line) => io.stdout.write(`${line}\n`),
      note: (sentence) => io.stderr.write(`toolplane mcp: ${sentence}\n`),
      uuid: io.uuid,
      sleep: io.sleep,
    });
    const stopListening = io.onStop(() => {
      proxy.stop();
      io.exit(EXIT.ok);
    });
    const checked = proxy.check();
    try {
      for await (const line of io.readLines()) if (line.trim() !== "") proxy.take(line);
      // The client has closed stdin: what it asked for is still answered.
      await Promise.all([proxy.idle(), checked]);
      return EXIT.ok;
    } finally {
      proxy.stop();
      stopListening();
    }
  },
};
