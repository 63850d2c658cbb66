// Does a long past make a call dearer? `npm run bench:engine:flatness`
//   -- --calls 1000000 --young 30000 --new 1100 --rounds 8 --seconds 3 --in-flight 64
// Five databases of one server, the same work in turns:
//   alone  nothing but the project at work
//   long   nothing but that project, with a million settled calls of its own
//   new    eleven projects with a hundred settled calls each
//   young  the same projects, 30,000 calls
//   old    the same projects, a million calls
// CPU and buffers per call of `long` must be within 10 % of `alone`, those of `old` within 10 % of `new` and `young`. One
// project and many are not compared: a project that is alone adds to the right edge of every index, which needs no search.
// CPU is that of the connections to the database. What the server does beside (writing out, vacuum) serves all five and falls into
// whichever round is on; it is shown and not judged. Few rounds on a busy machine say little about CPU.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { UsageError } from "@toolplane/protocol";
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
    young: { type: "string", default: "30000" },
    new: { type: "string", default: "1100" },
    rounds: { type: "string", default: "8" },
    seconds: { type: "string", default: "3" },
    "in-flight": { type: "string", default: "64" },
    variant: { type: "string", default: "direct, safe" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const inFlight = Number(values["in-flight"]);
const PASTS = {
  alone: { calls: 0, otherProjects: 0 },
  long: { calls: Number(values.calls), otherProjects: 0 },
  new: { calls: Number(values.new), otherProjects: 10 },
  young: { calls: Number(values.young), otherProjects: 10 },
  old: { calls: Number(values.calls), otherProjects: 10 },
} as const;
type Past = keyof typeof PASTS;
const databaseOf = (name: Past): string => `past_${name}`;
const JUDGED: readonly (readonly [Past, Past])[] = [
  ["long", "alone"],
  ["old", "new"],
  ["old", "young"],
];
const ALLOWED = 1.1;
const HOURS_AGO_MS = 36_000_000;
const EXPLAINED_CALLS = 64;
const WARM_UP_SECONDS = 2;

interface Side {
  readonly name: Past;
  readonly scene: Scene;
  readonly counters: Counters;
  readonly variant: Variant;
  readonly samples: Sample[];
  /** Buffers per call and relation, one entry per round. */
  readonly blocks: Map<string, number>[];
  explained: ReadonlyMap<string, ExplainedStatement>;
}

await using server = await startServer({});
await using stack = new AsyncDisposableStack();

const openSide = async (name: Past): Promise<Side> => {
  const scene = stack.use(await openScene(server.url(databaseOf(name))));
  const counters = await createCounters(scene.engine, scene.aside, POOL);
  const variant = engineVariants(scene).find((one) => one.name === values.variant);
  if (variant === undefined) throw new UsageError(`there is no variant ${values.variant}`);
  return { name, scene, counters, variant, samples: [], blocks: [], explained: new Map() };
};

const givePast = async ({ name, scene, variant }: Side): Promise<void> => {
  const past = PASTS[name];
  await warmUp(variant, inFlight, WARM_UP_SECONDS);
  const start = performance.now();
  await makeSettledHistory(scene.aside, { ...past, sampleProject: PROJECT, beganMs: Date.now() - HOURS_AGO_MS });
  console.log(`${name}: ${past.calls} settled calls written in ${((performance.now() - start) / 1000).toFixed(0)} s`);
};

const readBlocks = async ({ scene }: Side): Promise<Map<string, number>> => {
  const rows = await scene.aside.query<{ name: string; blocks: number }>({ name: "", text: READ_BLOCKS });
  return new Map(rows.map((row) => [row.name, row.blocks]));
};

const measure = async (side: Side): Promise<void> => {
  // Flushes the statistics of the connections, so that the blocks before belong to before.
  await side.counters.read();
  const before = await readBlocks(side);
  const means = { counters: side.counters, serverPid: server.pid, database: databaseOf(side.name) };
  const sample = await runRound(side.variant, { inFlight, seconds }, means);
  const after = await readBlocks(side);
  side.samples.push(sample);
  const perCall = (name: string, blocks: number): number => (blocks - (before.get(name) ?? 0)) / sample.done;
  side.blocks.push(new Map([...after].map(([name, blocks]) => [name, perCall(name, blocks)])));
};

const explain = async (side: Side): Promise<void> => {
  const recorder = recordExplains(side.scene.engine.db);
  recorder.start();
  await exerciseEverything(side.scene, EXPLAINED_CALLS);
  recorder.stop();
  side.explained = recorder.seen;
};

{
  await using admin = await openScene(server.url());
  for (const name of Object.keys(PASTS))
    await admin.aside.query({ name: "", text: CREATE_DATABASE(databaseOf(name as Past)) });
}
const sides: Side[] = [];
for (const name of Object.keys(PASTS) as Past[]) sides.push(await openSide(name));
const sideOf = (name: Past): Side => sides.find((side) => side.name === name) as Side;
const old = sideOf("old");

const facts = old.counters.server;
console.log(
  `${new Date().toISOString()} node ${process.version}, ${cpus().length} cpus (${cpus()[0]?.model}), PostgreSQL ${facts.version}`,
);
console.log(
  `fsync ${facts.fsync}, synchronous_commit ${facts.synchronous_commit}, shared_buffers ${facts.shared_buffers}`,
);
for (const side of sides) await givePast(side);
interface SizeRow {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}
for (const row of await old.scene.aside.query<SizeRow>({ name: "", text: SIZES }))
  console.log(
    `  ${row.name.padEnd(20)} ${String(row.rows).padStart(9)} rows ${(row.bytes / 2 ** 20).toFixed(0).padStart(6)} MB`,
  );

for (const side of sides) await warmUp(side.variant, inFlight, WARM_UP_SECONDS);
for (let round = 0; round < rounds; round++) {
  for (const index of sides.keys()) await measure(sides[(index + round) % sides.length] as Side);
}
for (const side of sides) await explain(side);

const total = (blocks: ReadonlyMap<string, number>): number => [...blocks.values()].reduce((sum, n) => sum + n, 0);
/** What each round of a side gave. */
type Rounds = (side: Side) => readonly number[];
const figures: readonly (readonly [string, Rounds])[] = [
  ["server CPU ms per call", ({ samples }) => samples.map(({ backendMs }) => backendMs)],
  ["and all the server does", ({ samples }) => samples.map(({ serverMs }) => serverMs)],
  ["node CPU ms per call", ({ samples }) => samples.map(({ nodeMs }) => nodeMs)],
  ["buffers per call", ({ blocks }) => blocks.map(total)],
  ["statements per call", ({ samples }) => samples.map(({ counts, done }) => counts.statements / done)],
  ["WAL kB per call", ({ samples }) => samples.map(({ counts, done }) => counts.walBytes / done / 1024)],
  ["calls per second", ({ samples }) => samples.map(({ perSecond }) => perSecond)],
];
// A machine has moods that last for seconds: only what was measured in the same round is divided.
const ratio = (of: Rounds, [after, before]: readonly [Past, Past]): number => {
  const divisors = of(sideOf(before));
  return median(of(sideOf(after)).map((value, round) => value / (divisors[round] ?? Number.NaN)));
};
const HEADER = [...sides.map(({ name }) => name), ...JUDGED.map(([after, before]) => `${after} / ${before}`)];
const compare = (name: string, of: Rounds, digits: number): string[] => [
  name,
  ...sides.map((side) => median(of(side)).toFixed(digits)),
  ...JUDGED.map((pair) => `${ratio(of, pair).toFixed(3)}x`),
];
const show = (title: string, rows: readonly string[][]): void =>
  console.log(`\n${title}\n${formatTable([["", ...HEADER], ...rows])}`);

const done = sides.map(({ samples }) => samples.reduce((sum, sample) => sum + sample.done, 0)).join(", ");
show(
  `${values.variant}, ${inFlight} in flight, medians of ${rounds} rounds in turns, and of the ratios within each (${done} calls)`,
  figures.map(([name, of]) => compare(name, of, 3)),
);

const blocksOf =
  (relation: string): Rounds =>
  ({ blocks }) =>
    blocks.map((one) => one.get(relation) ?? 0);
const relations = [...new Set(old.blocks.flatMap((one) => [...one.keys()]))].sort();
show(
  "buffers per call by table and index",
  relations
    .filter((name) => sides.some((side) => median(blocksOf(name)(side)) >= 0.05))
    .map((name) => compare(name, blocksOf(name), 2)),
);

const explainedBlocks =
  (statement: string): Rounds =>
  ({ explained }) => {
    const one = explained.get(statement);
    return [(one?.blocks ?? 0) / (one?.times ?? 1)];
  };
show(
  `EXPLAIN (ANALYZE, BUFFERS): buffers per run, ${EXPLAINED_CALLS} calls a step`,
  [...old.explained.keys()].sort().map((name) => compare(name, explainedBlocks(name), 1)),
);

const judged = figures.filter(([name]) => name.startsWith("server CPU") || name.startsWith("buffers"));
const failed = judged.flatMap(([name, of]) =>
  JUDGED.filter((pair) => ratio(of, pair) > ALLOWED).map(([after, before]) => `${name} of ${after} against ${before}`),
);
console.log(failed.length === 0 ? "\nflat: within 10 %" : `\nNOT FLAT: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
