// The program of a crash run: one life of one process. Its one argument says what to do, and where it shall die. It
// says `ready` and `done` on its output, and leaves when its input ends.

import { openJournal } from "./journal.ts";
import type { PlannedFault } from "./planned-faults.ts";
import { createPlannedFaults } from "./planned-faults.ts";
import { startWorkload, type WorkloadConfig } from "./workload.ts";

export interface ChildConfig extends WorkloadConfig {
  readonly faults?: readonly PlannedFault[] | undefined;
}

const main = async (): Promise<void> => {
  const config = JSON.parse(process.argv[2] ?? "{}") as ChildConfig;
  const journal = openJournal(config.journal);
  const say = (word: string): boolean => process.stdout.write(`${JSON.stringify({ [word]: true })}\n`);
  const ended = new Promise<void>((resolve) => process.stdin.once("end", resolve).resume());
  const faults = createPlannedFaults(config.faults ?? [], {
    dying: (point) => journal.write({ what: "died", point }),
    stalling: (point) => journal.write({ what: "stalled", point }),
  });
  const workload = await startWorkload(config, faults);
  say("ready");
  await Promise.race([workload.done, ended]);
  say("done");
  await ended;
  await workload.stop();
};

await main();
