// `npm run boundaries`: one line per broken boundary, exit 1 when there is one. The checks are in boundaries/.

import { fileURLToPath } from "node:url";
import { checkBoundaries } from "./boundaries/checks.ts";
import { formatViolation } from "./boundaries/violation.ts";
import { readWorkingTree } from "./boundaries/working-tree.ts";

const files = readWorkingTree(fileURLToPath(new URL("..", import.meta.url)));
const violations = checkBoundaries(files);
for (const violation of violations) console.error(formatViolation(violation));

const errors = violations.filter(({ severity }) => severity === "error").length;
console.log(`boundaries: ${files.size} files, ${errors} broken, ${violations.length - errors} warnings`);
process.exitCode = errors === 0 ? 0 : 1;
