// The most memory that both sides of a pair ever had under a load, each pair in processes of its own:
// `node bench/hosts/memory.ts PAIR IN_FLIGHT BYTES MS` prints it as JSON.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { applyLoad } from "./load.ts";
import { pairKinds } from "./pair-kinds.ts";

export interface Peaks {
  readonly perSecond: number;
  readonly parentBytes: number;
  readonly childBytes: number;
}

/** Linux keeps the high-water mark; elsewhere it is not known. */
const peakOf = (pid: number): number => {
  try {
    const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return Number(found?.[1] ?? Number.NaN) * 1024;
  } catch {
    return Number.NaN;
  }
};

const SELF = fileURLToPath(import.meta.url);

export const measureMemory = async (name: string, inFlight: number, bytes: number, ms: number): Promise<Peaks> => {
  const argv = ["--conditions=source", SELF, name, String(inFlight), String(bytes), String(ms)];
  const { stdout } = await promisify(execFile)(process.execPath, argv);
  return JSON.parse(stdout) as Peaks;
};

if (process.argv[1] === SELF) {
  const [name, inFlight, bytes, ms] = process.argv.slice(2);
  const kind = pairKinds.find((known) => known.name === name);
  if (kind === undefined) process.exit(2);
  await using pair = await kind.open();
  const text = "x".repeat(Number(bytes));
  const { perSecond } = await applyLoad(pair, { inFlight: Number(inFlight), text, ms: Number(ms) });
  const peaks: Peaks = { perSecond, parentBytes: peakOf(process.pid), childBytes: peakOf(pair.childPid) };
  console.log(JSON.stringify(peaks));
}
