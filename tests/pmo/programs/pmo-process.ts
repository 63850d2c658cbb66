// A manager that dies where it is told to. Its one argument says which database and which fault.

import { createPlannedFaults, type PlannedFault } from "@toolplane/testkit";
import { startPmoLife } from "../pmo-life.ts";

const { databaseUrl, faults } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly databaseUrl: string;
  readonly faults: readonly PlannedFault[];
};
const ended = new Promise<void>((resolve) => process.stdin.once("end", resolve).resume());
const planned = createPlannedFaults(faults, { dying: () => undefined, stalling: () => undefined });
await using _life = await startPmoLife(databaseUrl, planned);
await ended;
