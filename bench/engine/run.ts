// What a call costs, from dispatch over the lease to the settlement: `npm run bench:engine`.
//   -- --levels 1,16,64,256 --rounds 5 --seconds 2 --variants direct,bare --postgres 15
// A server of its own that syncs to disk. Rounds of all variants are interleaved, so a busy neighbour hits all alike;
// CPU and counts per call are the robust figures, calls per second is what this machine had left.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { bareVariants } from "./bare-variants.ts";
import { createCounters } from "./counters.ts";
import { engineVariants } from "./engine-variants.ts";
import { levelTable, type Measured, promiseTable, rowsTable } from "./report.ts";
import { runRound, type Sample, type Variant, warmUp } from "./round.ts";
import { openScene, POOL, startServer } from "./scene.ts";

const { values } = parseArgs({
  options: {
    levels: { type: "string", default: "1,16,64,256" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    variants: { type: "string", default: "" },
    postgres: { type: "string" },
  },
});
const levels = values.levels.split(",").map(Number);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const WARM_UP_SECONDS = 1.5;

const PROMISES = [
  ["bare rows", "bare rows, queue"],
  ["bare rows, queue", "direct, safe"],
  ["direct, safe", "direct, unsafe"],
  ["direct, safe", "direct, safe, key"],
  ["direct, safe", "direct, safe, waiting"],
  ["direct, safe", "agent step, safe"],
] as const;

await using server = await startServer({
  major: values.postgres === undefined ? undefined : Number(values.postgres),
});
await using scene = await openScene(server.url());
const counters = await createCounters(scene.engine, scene.aside, POOL);
const facts = counters.server;
console.log(
  `${new Date().toISOString()} node ${process.version}, ${cpus().length} cpus (${cpus()[0]?.model}), PostgreSQL ${facts.version}`,
);
console.log(
  `fsync ${facts.fsync}, synchronous_commit ${facts.synchronous_commit}, wal_sync_method ${facts.wal_sync_method}, ` +
    `full_page_writes ${facts.full_page_writes}, shared_buffers ${facts.shared_buffers}`,
);
console.log(`${rounds} interleaved rounds of ${seconds} s per variant and level; medians of rounds`);

const ofEngine = engineVariants(scene);
for (const variant of ofEngine.slice(0, 1)) await warmUp(variant, 16, WARM_UP_SECONDS);
const wanted = values.variants.split(",");
const variants: readonly Variant[] = [...(await bareVariants(scene)), ...ofEngine].filter(({ name }) =>
  wanted.some((part) => name.includes(part)),
);

const means = { counters, serverPid: server.pid };
const all = new Map<number, Measured[]>();
for (const inFlight of levels) {
  const samples = new Map<Variant, Sample[]>(variants.map((variant) => [variant, []]));
  for (const variant of variants) await warmUp(variant, inFlight, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    for (const variant of variants) samples.get(variant)?.push(await runRound(variant, { inFlight, seconds }, means));
  }
  const measured = [...samples].map(([{ name, adds }, list]) => ({ variant: name, adds, samples: list }));
  all.set(inFlight, measured);
  console.log(`\n${inFlight} in flight\n${levelTable(measured)}`);
}

console.log(`\n${rowsTable(all.get(levels.at(-1) ?? 0) ?? [])}`);
console.log(`\nwhat each promise costs\n${promiseTable(all, PROMISES)}`);
