// `node scripts/test-count.ts REPORT EXIT_CODE`: names the tests that failed or needed a second try, then prints
// "N passed, N failed" as its last line; exit 1 when anything failed.

import { existsSync, readFileSync } from "node:fs";
import { countReport, formatCount } from "./test-report/count.ts";
import { listNotable } from "./test-report/notable.ts";

const [path = "", exitCode = "1"] = process.argv.slice(2);
const text = existsSync(path) ? readFileSync(path, "utf8") : undefined;
const count = countReport(text, Number(exitCode));
for (const line of listNotable(text, process.cwd())) console.log(line);
console.log(formatCount(count));
process.exitCode = count.failed === 0 ? 0 : 1;
