// Where processes of the crash suite die and fail: everything calls and messages pass, and the commit of an agent's step.
// The other moments of turns have a suite of their own, with scripts that pass all of them.

import { FAULT_POINTS, type FaultPoint } from "@toolplane/engine/internal";

export const CRASH_POINTS: readonly FaultPoint[] = [
  ...FAULT_POINTS,
  "commit:before-dispatch",
  "commit:before-commit",
  "commit:after-commit",
];
