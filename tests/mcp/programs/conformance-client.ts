// The client side of the bridge, for the protocol's test suite: connects to the address it is given, lists the tools and calls them,
// as the plane does.

import { createMcpHttp, createMcpLink } from "@toolplane/bridges/mcp";
import type { JsonObject, JsonValue } from "@toolplane/protocol";

interface AskedCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** The calls that the suite asks for; without them every tool is called once. */
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as { toolCalls?: readonly AskedCall[] };

const nothing = (): void => undefined;
const link = createMcpLink({
  name: "suite",
  version: "1",
  elicitation: "defaults",
  open: () => createMcpHttp({ url: new URL(process.argv.at(-1) ?? ""), headers: {}, fetch }),
  log: { info: nothing, warn: nothing, error: nothing },
  now: Date.now,
  random: Math.random,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  toolsChanged: nothing,
});

const signal = AbortSignal.timeout(100_000);

const VALUES: Readonly<Record<string, JsonValue>> = { number: 1, integer: 1, boolean: true, array: [], object: {} };

interface Property {
  readonly type?: string;
  readonly enum?: readonly JsonValue[];
}

const valueFor = ({ type = "string", enum: values }: Property): JsonValue => values?.[0] ?? VALUES[type] ?? "text";

const tools = await link.listTools(signal);
const focal = tools.find(({ name }) => name === "json_schema_2020_12_tool");

const argumentsFor = (name: string, schema: unknown): JsonObject => {
  if (name === "json_schema_echo") return { schema: (focal?.inputSchema ?? null) as JsonValue };
  const { properties = {} } = schema as { properties?: Readonly<Record<string, Property>> };
  return Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, valueFor(property)]));
};

const wanted =
  toolCalls ?? tools.map(({ name, inputSchema }) => ({ name, arguments: argumentsFor(name, inputSchema) }));
for (const { name, arguments: args } of wanted)
  await link
    .callTool({ tool: name, arguments: args, meta: {}, signal, timeoutMs: 100_000, progress: nothing })
    .catch((error: unknown) => process.stderr.write(`${name}: ${String(error)}\n`));
await link.close();
