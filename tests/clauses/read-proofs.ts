// What the tests of the working tree claim, and through which doors they come.

import { fileURLToPath } from "node:url";
import { readWorkingTree } from "../../scripts/boundaries/working-tree.ts";
import { listProofs, mayProve } from "../requirements/proofs.ts";
import type { ClaimAtDoors } from "./clause-table.ts";
import { doorsOf } from "./door.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const readProofs = (): readonly ClaimAtDoors[] =>
  [...readWorkingTree(ROOT)]
    .filter(([path]) => mayProve(path))
    .flatMap(([path, text]) => {
      const doors = doorsOf(path, text);
      return listProofs(path, text).map((claim) => ({ ...claim, doors }));
    });
