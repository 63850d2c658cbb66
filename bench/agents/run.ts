// What a turn costs, from its spawn to its task event: `npm run bench:agents`.
//   -- --levels 1,16,64,256 --rounds 3 --seconds 3 --variants one,ten --postgres 15
// A server of its own that syncs to disk. Engine, worker, tool service and callers share one process; the brain is a
// function that takes no time and the tool does nothing. Statements and CPU per turn are the robust figures.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { createCounters } from "../engine/counters.ts";
import { rowsTable } from "../engine/report.ts";
import { runRound, type Sample, warmUp } from "../engine/round.ts";
import { startServer } from "../engine/scene.ts";
import { type MeasuredTurns, turnTable } from "./report.ts";
import { ANALYZE } from "./scene.sql.ts";
import { CONNECTIONS, openAgentScene } from "./scene.ts";
import { type TurnVariant, turnVariants } from "./variants.ts";

const { values } = parseArgs({
  options: {
    levels: { type: "string", default: "1,16,64,256" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    variants: { type: "string", default: "" },
    postgres: { type: "string" },
  },
});
const levels = values.levels.split(",").map(Number);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const WARM_UP_SECONDS = 1.5;

await using server = await startServer({
  major: values.postgres === undefined ? undefined : Number(values.postgres),
});
await using scene = await openAgentScene(server.url(), Math.max(...levels));
const counters = await createCounters(scene.engine, scene.aside, CONNECTIONS);
const facts = counters.server;
console.log(
  `${new Date().toISOString()} node ${process.version}, ${cpus().length} cpus (${cpus()[0]?.model}), PostgreSQL ${facts.version}`,
);
console.log(`fsync ${facts.fsync}, synchronous_commit ${facts.synchronous_commit}`);
console.log(`${rounds} interleaved rounds of ${seconds} s per turn and level; medians of rounds, per turn`);

const wanted = values.variants.split(",");
const variants = turnVariants(scene).filter(({ name }) => wanted.some((part) => name.includes(part)));
const means = { counters, serverPid: server.pid };
let last: readonly MeasuredTurns[] = [];
for (const inFlight of levels) {
  const samples = new Map<TurnVariant, Sample[]>(variants.map((variant) => [variant, []]));
  for (const variant of variants) await warmUp(variant, inFlight, WARM_UP_SECONDS);
  await scene.aside.query({ name: "", text: ANALYZE });
  for (let round = 0; round < rounds; round++)
    for (const variant of variants) samples.get(variant)?.push(await runRound(variant, { inFlight, seconds }, means));
  last = [...samples].map(([{ name, adds, calls }, list]) => ({ variant: name, adds, calls, samples: list }));
  console.log(`\n${inFlight} turns in flight\n${turnTable(last)}`);
}
console.log(`\n${rowsTable(last).replace("per call", "per turn")}`);
console.log(`\nworker: ${JSON.stringify(scene.worker.stats())}`);
