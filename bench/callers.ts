// How fast a caller's program is against `toolplane up` and a tool service, each a process of its own: with the client, and
// with one `fetch` for each call. One sitting, the two take turns.
//   npm run bench:callers -- [seconds] [levels]

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "@toolplane/sdk/client";

const SECONDS = Number(process.argv[2] ?? 5);
const LEVELS = (process.argv[3] ?? "1,16,64,256").split(",").map(Number);
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const data = mkdtempSync(join(tmpdir(), "toolplane-bench-callers-"));

const SERVICE = `
import { defineTool, serveTools } from "@toolplane/sdk";
await serveTools([defineTool({ name: "bench_echo", description: "gives back what it was given", retry: "safe",
  parameters: { type: "object", properties: { n: { type: "number" } } }, run: async (args) => args })],
  { target: "bench", concurrency: 256 });
process.stdout.write("ready\\n");
`;

const start = (args: readonly string[], env: Record<string, string> = {}) => {
  const child = spawn(process.execPath, ["--conditions=source", "--no-warnings", ...args], {
    cwd: ROOT,
    env: { ...process.env, TOOLPLANE_LOG_LEVEL: "error", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ready = new Promise<string>((resolve, reject) => {
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += String(chunk);
      const line = out.split("\n").find((one) => one.startsWith("ready"));
      if (line !== undefined) resolve(line.slice("ready ".length));
    });
    child.once("exit", () => reject(new TypeError(`${args.join(" ")} ended`)));
  });
  return { child, ready };
};

const up = start(["bin/toolplane.mjs", "up", "--demo", "--port", "0", "--data", data]);
const url = await up.ready;
const token = readFileSync(join(data, "token"), "utf8").trim();
const service = start(["--input-type=module", "-e", SERVICE], { TOOLPLANE_URL: url, TOOLPLANE_TOKEN: token });
await service.ready;

const plane = connect({ url, token });
const byClient = (n: number): Promise<unknown> => plane.call("bench_echo", { n });
const byFetch = async (n: number): Promise<unknown> => {
  const response = await fetch(`${url}/projects/demo/calls`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      tool_name: "bench_echo",
      arguments: { n },
      idempotency_key: `bench-${process.pid}-${n}`,
      wait_seconds: 30,
    }),
  });
  return response.json();
};

/** CPU milliseconds of a process so far, all threads. Linux counts in hundredths of a second. */
const cpuOf = (pid: number | undefined): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(stat[11]) + Number(stat[12])) * 10;
};

let n = 0;
const measure = async (call: (n: number) => Promise<unknown>, level: number, seconds: number) => {
  const until = performance.now() + seconds * 1000;
  const times: number[] = [];
  const cpu = process.cpuUsage();
  const before = [up, service].map(({ child }) => cpuOf(child.pid));
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      n += 1;
      const began = performance.now();
      await call(n);
      times.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: level }, worker));
  const spent = (performance.now() - began) / 1000;
  const used = process.cpuUsage(cpu);
  const [server = 0, tools = 0] = [up, service].map(({ child }, at) => cpuOf(child.pid) - (before[at] ?? 0));
  times.sort((a, b) => a - b);
  return {
    perSecond: Math.round(times.length / spent),
    p50: (times[Math.floor(times.length / 2)] ?? 0).toFixed(1),
    p99: (times[Math.floor(times.length * 0.99)] ?? 0).toFixed(1),
    cpu: [(used.user + used.system) / 1000, server, tools].map((ms) => (ms / times.length).toFixed(2)).join(" / "),
  };
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);
try {
  await measure(byClient, 64, 2);
  await measure(byFetch, 64, 2);
  print("| in flight | way | calls/s | p50 ms | p99 ms | CPU ms/call: caller / server / service |");
  print("|---|---|---|---|---|---|");
  for (const level of LEVELS)
    for (const [name, call] of [
      ["client", byClient],
      ["fetch", byFetch],
    ] as const) {
      const { perSecond, p50, p99, cpu } = await measure(call, level, SECONDS);
      print(`| ${level} | ${name} | ${perSecond} | ${p50} | ${p99} | ${cpu} |`);
    }
} finally {
  await plane.close();
  for (const { child } of [service, up])
    await new Promise((resolve) => {
      child.removeAllListeners("exit");
      child.once("exit", resolve);
      child.kill("SIGTERM");
    });
  rmSync(data, { recursive: true, force: true });
}
