// The official MCP SDK's client and server over stdio: what most people would use instead.

import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Pair, PairKind } from "./pair.ts";

const CHILD = fileURLToPath(new URL("./mcp-child.ts", import.meta.url));

const open = async (): Promise<Pair> => {
  const transport = new StdioClientTransport({ command: process.execPath, args: [CHILD], stderr: "ignore" });
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(transport);
  return {
    name: "mcp sdk",
    childPid: transport.pid ?? 0,
    call: async (text) => {
      await client.callTool({ name: "echo", arguments: { text } });
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
};

export const mcpSdk: PairKind = { name: "mcp sdk", open };
