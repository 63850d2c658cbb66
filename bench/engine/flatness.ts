// Does a long past make a call dearer? `npm run bench:engine:flatness`
//   -- --calls 1000000 --rounds 8 --seconds 3 --in-flight 64
// Two databases of one server, the same work in turns: one with a handful of settled calls, one with a million. CPU and
// buffers per call must stay within 10 %.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { CREATE_DATABASE, READ_BLOCKS, SIZES } from "./blocks.sql.ts";
import { type Counters, createCounters } from "./counters.ts";
import { engineVariants } from "./engine-variants.ts";
import { exerciseEverything } from "./exercise.ts";
import { type ExplainedStatement, recordExplains } from "./explain-recorder.ts";
import { formatTable, median } from "./report.ts";
import { runRound, type Sample, type Variant, warmUp } from "./round.ts";
import { openScene, POOL, PROJECT, type Scene, startServer } from "./scene.ts";
import { makeSettledHistory } from "./settled-history.ts";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "8" },
    seconds: { type: "string", default: "3" },
    "in-flight": { type: "string", default: "64" },
    variant: { type: "string", default: "direct, safe" },
  },
});
const past = Number(values.calls);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const inFlight = Number(values["in-flight"]);
const ALLOWED = 1.1;
const HOURS_AGO_MS = 36_000_000;
const EXPLAINED_CALLS = 64;

interface Side {
  readonly name: string;
  readonly scene: Scene;
  readonly counters: Counters;
  readonly variant: Variant;
  readonly samples: Sample[];
  /** Buffers per call and relation, one entry per round. */
  readonly blocks: Map<string, number>[];
}

await using server = await startServer({});
const openSide = async (name: string): Promise<Side> => {
  const scene = await openScene(server.url(name));
  const counters = await createCounters(scene.engine, scene.aside, POOL);
  const variant = engineVariants(scene).find((one) => one.name === values.variant);
  if (variant === undefined) throw new RangeError(`there is no variant ${values.variant}`);
  return { name, scene, counters, variant, samples: [], blocks: [] };
};

{
  await using admin = await openScene(server.url());
  for (const name of ["young", "old"]) await admin.aside.query({ name: "", text: CREATE_DATABASE(name) });
}
const young = await openSide("young");
const old = await openSide("old");
await using _young = young.scene;
await using _old = old.scene;
const sides = [young, old];

const facts = young.counters.server;
console.log(
  `${new Date().toISOString()} node ${process.version}, ${cpus().length} cpus (${cpus()[0]?.model}), PostgreSQL ${facts.version}`,
);
console.log(
  `fsync ${facts.fsync}, synchronous_commit ${facts.synchronous_commit}, shared_buffers ${facts.shared_buffers}`,
);

for (const side of sides) await warmUp(side.variant, inFlight, 2);
const start = performance.now();
await makeSettledHistory(old.scene.aside, { sampleProject: PROJECT, calls: past, beganMs: Date.now() - HOURS_AGO_MS });
console.log(`${past} settled calls written in ${((performance.now() - start) / 1000).toFixed(0)} s`);
for (const row of await old.scene.aside.query<{ name: string; rows: number; bytes: number }>({ name: "", text: SIZES }))
  console.log(
    `  ${row.name.padEnd(20)} ${String(row.rows).padStart(9)} rows ${(row.bytes / 2 ** 20).toFixed(0).padStart(6)} MB`,
  );

const readBlocks = async ({ scene }: Side): Promise<Map<string, number>> => {
  const rows = await scene.aside.query<{ name: string; blocks: number }>({ name: "", text: READ_BLOCKS });
  return new Map(rows.map((row) => [row.name, row.blocks]));
};

for (const side of sides) await warmUp(side.variant, inFlight, 2);
for (let round = 0; round < rounds; round++) {
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
    // Flushes the statistics of the connections, so that the blocks before belong to before.
    await side.counters.read();
    const before = await readBlocks(side);
    const sample = await runRound(
      side.variant,
      { inFlight, seconds },
      { counters: side.counters, serverPid: server.pid },
    );
    const after = await readBlocks(side);
    side.samples.push(sample);
    side.blocks.push(
      new Map([...after].map(([name, blocks]) => [name, (blocks - (before.get(name) ?? 0)) / sample.done])),
    );
  }
}

const figures: readonly (readonly [string, (side: Side) => number])[] = [
  ["server CPU ms per call", ({ samples }) => median(samples.map(({ serverMs }) => serverMs))],
  ["node CPU ms per call", ({ samples }) => median(samples.map(({ nodeMs }) => nodeMs))],
  ["buffers per call", ({ blocks }) => median(blocks.map((one) => [...one.values()].reduce((sum, n) => sum + n, 0)))],
  ["statements per call", ({ samples }) => median(samples.map(({ counts, done }) => counts.statements / done))],
  ["WAL kB per call", ({ samples }) => median(samples.map(({ counts, done }) => counts.walBytes / done / 1024))],
  ["calls per second", ({ samples }) => median(samples.map(({ perSecond }) => perSecond))],
];
const compare = (name: string, a: number, b: number, digits = 3): string[] => [
  name,
  a.toFixed(digits),
  b.toFixed(digits),
  `${(b / a).toFixed(3)}x`,
];
console.log(
  `\n${values.variant}, ${inFlight} in flight, medians of ${rounds} rounds in turns, ${young.samples.reduce((n, { done }) => n + done, 0)} and ${old.samples.reduce((n, { done }) => n + done, 0)} calls`,
);
console.log(
  formatTable([["", "young", "old", "old / young"], ...figures.map(([name, of]) => compare(name, of(young), of(old)))]),
);

const relations = [...new Set([...old.blocks.flatMap((one) => [...one.keys()])])].sort();
const perRelation = relations
  .map((name) =>
    compare(
      name,
      median(young.blocks.map((one) => one.get(name) ?? 0)),
      median(old.blocks.map((one) => one.get(name) ?? 0)),
      2,
    ),
  )
  .filter(([, a, b]) => Number(a) >= 0.05 || Number(b) >= 0.05);
console.log(
  `\nbuffers per call by table and index\n${formatTable([["", "young", "old", "old / young"], ...perRelation])}`,
);

const explains: ReadonlyMap<string, ExplainedStatement>[] = [];
for (const { scene } of sides) {
  const recorder = recordExplains(scene.engine.db);
  recorder.start();
  await exerciseEverything(scene, EXPLAINED_CALLS);
  recorder.stop();
  explains.push(recorder.seen);
}
const [youngPlans, oldPlans] = explains;
const perStatement = [...(oldPlans ?? [])]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, one]) => {
    const other = youngPlans?.get(name);
    return compare(`${name} (${one.times})`, (other?.blocks ?? 0) / (other?.times ?? 1), one.blocks / one.times, 1);
  });
console.log(
  `\nEXPLAIN (ANALYZE, BUFFERS): buffers per run of each statement, ${EXPLAINED_CALLS} calls a step\n${formatTable([["statement (runs)", "young", "old", "old / young"], ...perStatement])}`,
);

const judged = figures.filter(([name]) => name.startsWith("server CPU") || name.startsWith("buffers"));
const failed = judged.filter(([, of]) => of(old) / of(young) > ALLOWED);
console.log(failed.length === 0 ? "\nflat: within 10 %" : `\nNOT FLAT: ${failed.map(([name]) => name).join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
