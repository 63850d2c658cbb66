// What the tests of the working tree claim, and through which doors they come.

import { fileURLToPath } from "node:url";
import { readWorkingTree } from "../../scripts/boundaries/working-tree.ts";
import { listClaims, mayClaim } from "../requirements/claims.ts";
import type { ClaimAtDoors } from "./clause-table.ts";
import { doorsOf } from "./door.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const readClaims = (): readonly ClaimAtDoors[] =>
  [...readWorkingTree(ROOT)]
    .filter(([path]) => mayClaim(path))
    .flatMap(([path, text]) => {
      const doors = doorsOf(path, text);
      return listClaims(path, text).map((claim) => ({ ...claim, doors }));
    });
