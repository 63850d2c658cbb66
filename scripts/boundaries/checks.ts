// All boundaries, in the order they are reported.

import { checkAmbient } from "./ambient.ts";
import { checkCycles } from "./cycles.ts";
import { checkExports } from "./exports.ts";
import { checkFileNames } from "./file-names.ts";
import { checkFileSize } from "./file-size.ts";
import { checkImports } from "./imports.ts";
import { checkLockFile } from "./lock-file.ts";
import { checkMachineTraces } from "./machine-traces.ts";
import { checkMeddling } from "./meddling.ts";
import { checkSql } from "./sql.ts";
import { checkThrows } from "./throws.ts";
import { checkUnused } from "./unused.ts";
import type { Violation } from "./violation.ts";
import { createWorkspace, type FileMap } from "./workspace.ts";

const CHECKS = [
  checkImports,
  checkCycles,
  checkSql,
  checkMeddling,
  checkThrows,
  checkExports,
  checkUnused,
  checkAmbient,
  checkFileNames,
  checkFileSize,
  checkMachineTraces,
  checkLockFile,
];

export const checkBoundaries = (files: FileMap): readonly Violation[] => {
  const workspace = createWorkspace(files);
  return CHECKS.flatMap((check) => check(workspace));
};
