// A manager that dies where it is told to. Its one argument says which database and which fault.

import { createPlannedFaults, type PlannedFault } from "@toolplane/testkit";
import { startManagerLife } from "../manager-life.ts";

const { databaseUrl, faults } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly databaseUrl: string;
  readonly faults: readonly PlannedFault[];
};
const ended = new Promise<void>((resolve) => process.stdin.once("end", resolve).resume());
const planned = createPlannedFaults(faults, { dying: () => undefined, stalling: () => undefined });
await using _life = await startManagerLife(databaseUrl, planned);
await ended;
