// From asking to the result, through runner and gateway: `npm run bench:tools`.
// All ways in one run, rounds interleaved, so a busy neighbour hits them alike; each level shows the median round.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { openInProcess } from "./in-process.ts";
import { type LevelResult, runLevel } from "./latency.ts";
import { openOverHttp, openOverNats } from "./over-http.ts";

const { values } = parseArgs({
  options: {
    levels: { type: "string", default: "1,16,64,256" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
  },
});
const levels = values.levels.split(",").map(Number);
const seconds = Number(values.seconds);

const median = (results: readonly LevelResult[]): LevelResult => {
  const sorted = [...results].sort((a, b) => a.perSecond - b.perSecond);
  return sorted[Math.floor(sorted.length / 2)] as LevelResult;
};

console.log(`node ${process.version}, ${cpus().length} CPUs, PostgreSQL with fsync and synchronous_commit on`);
await using inProcess = await openInProcess();
await using overHttp = await openOverHttp();
await using overNats = await openOverNats();
const ways = [inProcess, overHttp, overNats];
for (const way of ways) await runLevel(16, 1.5, way.call);

console.log("in flight | way        | calls/s |  p50 ms |  p99 ms | against in-process");
for (const level of levels) {
  const rounds = new Map(ways.map((way) => [way.name, [] as LevelResult[]]));
  for (let round = 0; round < Number(values.rounds); round++)
    for (const way of ways) rounds.get(way.name)?.push(await runLevel(level, seconds, way.call));
  const base = median(rounds.get(inProcess.name) ?? []).perSecond;
  for (const way of ways) {
    const { perSecond, p50, p99 } = median(rounds.get(way.name) ?? []);
    const cells = [
      perSecond.toFixed(0).padStart(7),
      p50.toFixed(1).padStart(7),
      p99.toFixed(1).padStart(7),
      (perSecond / base).toFixed(2),
    ];
    console.log(`${String(level).padStart(9)} | ${way.name.padEnd(10)} | ${cells.join(" | ")}`);
  }
}
