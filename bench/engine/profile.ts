// Where the time of a call goes: `node --conditions=source bench/engine/profile.ts --in-flight 256 --variant "direct, safe"`.
// This process by function (the V8 sampling profiler), the server by statement (pg_stat_statements).

import { Session } from "node:inspector/promises";
import { parseArgs } from "node:util";
import { engineVariants } from "./engine-variants.ts";
import { readOwnCpuMs, readServerCpuMs } from "./process-cpu.ts";
import { READ_STATEMENTS, START_STATEMENTS } from "./profile.sql.ts";
import { formatTable } from "./report.ts";
import { warmUp } from "./round.ts";
import { openScene, startServer } from "./scene.ts";

const { values } = parseArgs({
  options: {
    variant: { type: "string", default: "direct, safe" },
    "in-flight": { type: "string", default: "256" },
    seconds: { type: "string", default: "6" },
    top: { type: "string", default: "30" },
  },
});
const inFlight = Number(values["in-flight"]);
const seconds = Number(values.seconds);
const top = Number(values.top);

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: number[] | undefined;
}

const shortUrl = (url: string): string => {
  const parts = url.split("/");
  const marker = Math.max(parts.lastIndexOf("packages"), parts.lastIndexOf("node_modules"));
  return parts.slice(marker + 1).join("/");
};

const nameOf = ({ callFrame }: ProfileNode): string =>
  `${callFrame.functionName || "(anonymous)"} ${shortUrl(callFrame.url)}:${callFrame.lineNumber + 1}`;

/** Time per function: in itself, and in whatever it called (each function once per stack). */
const summarise = (nodes: readonly ProfileNode[], samples: readonly number[], deltas: readonly number[]) => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)));
  const self = new Map<string, number>();
  const total = new Map<string, number>();
  const add = (map: Map<string, number>, key: string, value: number): void => {
    map.set(key, (map.get(key) ?? 0) + value);
  };
  for (const [index, id] of samples.entries()) {
    const ms = (deltas[index] ?? 0) / 1000;
    const node = byId.get(id);
    if (node === undefined) continue;
    add(self, nameOf(node), ms);
    const stack = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parentOf.get(at)) {
      const frame = byId.get(at);
      if (frame !== undefined) stack.add(nameOf(frame));
    }
    for (const name of stack) add(total, name, ms);
  }
  return { self, total };
};

const largest = (map: ReadonlyMap<string, number>, calls: number): string =>
  formatTable(
    [...map]
      .filter(([name]) => !name.startsWith("(idle)") && !name.startsWith("(root)") && !name.startsWith("(program)"))
      .sort((a, b) => b[1] - a[1])
      .slice(0, top)
      .map(([name, ms]) => [name, `${((ms / calls) * 1000).toFixed(1)} us/call`]),
  );

interface StatementRow {
  readonly calls: number;
  readonly rows: number;
  readonly total_ms: number;
  readonly blocks: number;
  readonly wal_bytes: number;
  readonly statement: string;
}

await using server = await startServer({
  settings: { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track_planning": "on" },
});
await using scene = await openScene(server.url());
for (const text of START_STATEMENTS) await scene.aside.query({ name: "", text });
const variant = engineVariants(scene).find(({ name }) => name === values.variant);
if (variant === undefined) {
  console.error(
    `variants: ${engineVariants(scene)
      .map(({ name }) => name)
      .join(" | ")}`,
  );
  process.exit(2);
}
await warmUp(variant, inFlight, 3);
await scene.aside.query({ name: "", text: START_STATEMENTS.at(-1) ?? "" });

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.setSamplingInterval", { interval: 200 });
const { doOne, end } = variant.begin(inFlight);
let done = 0;
const until = performance.now() + seconds * 1000;
const node = readOwnCpuMs();
const pg = readServerCpuMs(server.pid);
await session.post("Profiler.start");
const lane = async (): Promise<void> => {
  while (performance.now() < until && (await doOne())) done++;
};
await Promise.all(Array.from({ length: inFlight }, lane));
const { profile } = await session.post("Profiler.stop");
console.log(
  `${values.variant}, ${inFlight} in flight, ${done} calls: node ${((readOwnCpuMs() - node) / done).toFixed(3)} ms, ` +
    `server ${((readServerCpuMs(server.pid) - pg) / done).toFixed(3)} ms of CPU per call (profiling included)`,
);
await end();
const { self, total } = summarise(profile.nodes, profile.samples ?? [], profile.timeDeltas ?? []);
console.log(`\nby function, itself\n${largest(self, done)}`);
console.log(`\nby function, with what it called\n${largest(total, done)}`);
const rows = await scene.aside.query<StatementRow>({ name: "", text: READ_STATEMENTS }, [top]);
console.log(
  `\nby statement\n${formatTable([
    ["statement", "times", "rows", "ms/time", "us/call", "blocks/call", "wal B/call"],
    ...rows.map((row) => [
      row.statement.trim().replaceAll(/\s+/g, " ").slice(0, 70),
      String(row.calls),
      String(row.rows),
      (row.total_ms / row.calls).toFixed(3),
      ((row.total_ms / done) * 1000).toFixed(1),
      (row.blocks / done).toFixed(2),
      (row.wal_bytes / done).toFixed(0),
    ]),
  ])}`,
);
