// What durability costs an MCP client and an MCP server: `npm run bench:mcp`. Each pair does the same echo; rounds are interleaved, so
// a busy neighbour hits all alike, and only the ratios to the bare pair of the same round count.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir, type } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connect } from "@toolplane/sdk/client";

const ROUNDS = 7;
const MS = 1_500;
const IN_FLIGHT = [1, 16];
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BARE = fileURLToPath(new URL("echo-server.ts", import.meta.url));
const RECORD = new URL("../../docs/records/mcp-bench.md", import.meta.url);
const NODE = [process.execPath, "--no-warnings"] as const;

const firstLine = (child: ChildProcess, pattern: RegExp): Promise<string> =>
  new Promise((resolve) => {
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const found = pattern.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
  });

const clientOn = async (transport: Transport): Promise<Client> => {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  return client;
};

const place = mkdtempSync(join(tmpdir(), "toolplane-bench-"));
writeFileSync(
  join(place, "toolplane.yaml"),
  `project: demo\nmcp_servers:\n  - { name: bare, command: ${JSON.stringify([...NODE, BARE])}, user: inherit }\n`,
);
const http = spawn(NODE[0], [...NODE.slice(1), BARE, "http"], { stdio: ["ignore", "pipe", "inherit"] });
const data = join(place, "data");
const up = spawn(process.execPath, [join(ROOT, "bin/toolplane.mjs"), "up", "--port", "0", "--data", data], {
  cwd: place,
  env: { ...process.env, TOOLPLANE_LOG_LEVEL: "warn" },
  stdio: ["ignore", "pipe", "inherit"],
});
const [port, url] = await Promise.all([firstLine(http, /^(\d+)$/m), firstLine(up, /^ready (\S+)$/m)]);
const token = readFileSync(join(data, "token"), "utf8").trim();
const requestInit = { headers: { authorization: `Bearer ${token}` } };
const overHttp = await clientOn(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
const overPlane = await clientOn(new StreamableHTTPClientTransport(new URL(`${url}/mcp/demo`), { requestInit }));
const overStdio = await clientOn(new StdioClientTransport({ command: NODE[0], args: [...NODE.slice(1), BARE] }));
const plane = connect({ url, token, project: "demo" });

const text = "x".repeat(200);
const PAIRS: readonly { readonly name: string; readonly bare: string; readonly call: () => Promise<unknown> }[] = [
  { name: "bare HTTP", bare: "bare HTTP", call: () => overHttp.callTool({ name: "echo", arguments: { text } }) },
  { name: "server", bare: "bare HTTP", call: () => overPlane.callTool({ name: "echo", arguments: { text } }) },
  { name: "bare stdio", bare: "bare stdio", call: () => overStdio.callTool({ name: "echo", arguments: { text } }) },
  { name: "bridge", bare: "bare stdio", call: () => plane.call("bare__echo", { text }) },
  { name: "both", bare: "bare HTTP", call: () => overPlane.callTool({ name: "bare__echo", arguments: { text } }) },
];

const measure = async (call: () => Promise<unknown>, inFlight: number): Promise<number> => {
  const end = performance.now() + MS;
  let done = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < end) {
        await call();
        done += 1;
      }
    }),
  );
  return (done * 1_000) / (performance.now() - began);
};

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const lines: string[] = [];
const out = (line: string): void => {
  lines.push(line);
  process.stdout.write(`${line}\n`);
};
const load = loadavg()[0]?.toFixed(0);
out("| in flight | pair | calls/s | times the bare pair |");
out("|---:|---|---:|---:|");
for (const inFlight of IN_FLIGHT) {
  const rates = new Map<string, number[]>(PAIRS.map(({ name }) => [name, []]));
  for (const { call } of PAIRS) await measure(call, inFlight);
  for (let round = 0; round < ROUNDS; round++)
    for (const { name, call } of PAIRS) rates.get(name)?.push(await measure(call, inFlight));
  for (const { name, bare } of PAIRS) {
    const own = rates.get(name) ?? [];
    const ratios = own.map((rate, round) => (rates.get(bare)?.[round] ?? Number.NaN) / rate);
    out(`| ${inFlight} | ${name} | ${median(own).toFixed(0)} | ${median(ratios).toFixed(2)} |`);
  }
}

await Promise.all([overHttp.close(), overPlane.close(), overStdio.close(), plane.close?.()]);
http.kill();
up.kill("SIGTERM");
await new Promise((resolve) => up.on("close", resolve));
rmSync(place, { recursive: true, force: true });

writeFileSync(
  RECORD,
  `# What durability costs over MCP

\`npm run bench:mcp\`, ${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores (load ${load} before it began), Node ${process.versions.node}, ${type()}.

Each pair does the same echo of ${text.length} characters, ${ROUNDS} rounds of ${MS / 1_000} s, interleaved. Only the ratios count: the median over the rounds of
"calls/s of the bare pair in this round" by "calls/s of this pair in this round". A bare pair stores nothing; here each call is two commits to disk.

- **bare HTTP**, **bare stdio**: a client and a server of the official SDK.
- **server**: the SDK's client on \`/mcp/demo\`, with a tool that runs in the plane.
- **bridge**: a tool of an MCP server on stdio, called through the plane's own client.
- **both**: the SDK's client on \`/mcp/demo\`, with a tool of an MCP server on stdio.

${lines.join("\n")}
`,
);
