// `node scripts/test-count.ts REPORT EXIT_CODE`: prints "N passed, N failed"; exit 1 when anything failed.

import { existsSync, readFileSync } from "node:fs";
import { countReport, formatCount } from "./test-report/count.ts";

const [path = "", exitCode = "1"] = process.argv.slice(2);
const count = countReport(existsSync(path) ? readFileSync(path, "utf8") : undefined, Number(exitCode));
console.log(formatCount(count));
process.exitCode = count.failed === 0 ? 0 : 1;
