// The client side of the bridge, for the protocol's test suite: connects to the address it is given, lists the tools and calls each
// of them, as the plane does. The suite says in MCP_CONFORMANCE_SCENARIO what it looks at.

import module from "node:module";

// Only our own packages: others publish TypeScript under the same condition, which Node does not run from node_modules.
module.registerHooks({
  resolve: (specifier, context, next) =>
    /^@toolplane\//.test(specifier)
      ? next(specifier, { ...context, conditions: ["source", ...context.conditions] })
      : next(specifier, context),
});

const { createMcpHttp, createMcpLink } = await import("@toolplane/bridges/mcp");

/** The calls that the suite asks for; without them every tool is called once. */
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

const nothing = () => undefined;
const link = createMcpLink({
  name: "suite",
  version: "1",
  open: () => createMcpHttp({ url: new URL(process.argv.at(-1) ?? ""), headers: {}, fetch }),
  log: { info: nothing, warn: nothing, error: nothing },
  now: Date.now,
  random: Math.random,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  toolsChanged: nothing,
});

const signal = AbortSignal.timeout(25_000);
const call = (tool, args) =>
  link
    .callTool({ tool, arguments: args, meta: {}, signal, timeoutMs: 25_000, progress: nothing })
    .catch((error) => process.stderr.write(`${tool}: ${String(error)}\n`));

const valueFor = ({ type, enum: values }) =>
  values?.[0] ?? { string: "text", number: 1, integer: 1, boolean: true, array: [], object: {} }[type] ?? "text";

const tools = await link.listTools(signal);
const focal = tools.find(({ name }) => name === "json_schema_2020_12_tool");
const argumentsFor = ({ name, inputSchema }) =>
  name === "json_schema_echo"
    ? { schema: focal?.inputSchema }
    : Object.fromEntries(Object.entries(inputSchema?.properties ?? {}).map(([key, schema]) => [key, valueFor(schema)]));

for (const { name, arguments: args } of toolCalls ??
  tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool) })))
  await call(name, args);
await link.close();
