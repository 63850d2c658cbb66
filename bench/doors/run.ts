// The judge of the doors: `npm run bench`.
//   -- --only http,pg-boss --levels 1,64 --rounds 1 --seconds 2 --baseline ae39b87,10aead90 --out docs --no-install
// Prints tables; a whole run also writes docs/records/bench.md, docs/records/bench.json and docs/bench.svg.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatTable } from "../engine/report.ts";
import { type Baseline, openBaseline } from "./baseline.ts";
import { installNeighbours } from "./neighbours.ts";
import { parseOptions } from "./options.ts";
import { ourContestants } from "./ours.ts";
import { peerContestants } from "./peers.ts";
import { renderDocument } from "./report/document.ts";
import { renderPicture } from "./report/picture.ts";
import { changeRows, checkRows, levelRows, overviewRows, ratioRows } from "./report/tables.ts";
import { runBench } from "./run-bench.ts";

const argv = process.argv.slice(2);
const options = parseOptions(argv);
const log = (line: string): void => console.log(line);

await using stack = new AsyncDisposableStack();
const wanted = ({ key }: { readonly key: string }): boolean =>
  options.only.length === 0 || options.only.some((one) => key === one || key.startsWith(`${one}@`));
if (options.install && peerContestants().some(wanted)) await installNeighbours(log);
const baselines: Baseline[] = [];
for (const commit of options.baselines) baselines.push(stack.use(await openBaseline(commit, log)));
const trees = [ourContestants(), ...baselines.map((baseline) => ourContestants({ baseline }))];
// Each way stands beside itself in the other commits: the machine's speed changes within minutes.
const ways = ourContestants().flatMap((_, index) => trees.flatMap((tree) => tree[index] ?? []));
const all = [...ways, ...peerContestants()];
const run = await runBench({ ...options, contestants: all.filter(wanted), now: () => new Date(), log });

for (const level of run.options.levels) log(`\n${formatTable(levelRows(run, level))}`);
for (const rows of [checkRows(run), overviewRows(run), ratioRows(run), changeRows(run)])
  if (rows.length > 1) log(`\n${formatTable(rows)}`);
for (const { name, reason } of run.missing) log(`not measured: ${name}: ${reason}`);

if (options.out !== undefined) {
  mkdirSync(join(options.out, "records"), { recursive: true });
  const command = ["npm run bench", ...(argv.length === 0 ? [] : ["--", ...argv])].join(" ");
  writeFileSync(join(options.out, "bench.svg"), renderPicture(run));
  writeFileSync(join(options.out, "records/bench.md"), renderDocument(run, { command, picture: "../bench.svg" }));
  writeFileSync(join(options.out, "records/bench.json"), `${JSON.stringify(run, undefined, 1)}\n`);
}
