// Writes docs/reference/clauses.md from the rules and the tests. `--check` writes nothing and fails when the page is out of
// date. Run it with `node --conditions=source scripts/docs-clauses.ts`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checksText, planChecks } from "../tests/clauses/check-table.ts";
import { clausesPage, planClauses } from "../tests/clauses/clause-table.ts";
import { CORPUS } from "../tests/clauses/corpus.ts";
import { readProofs } from "../tests/clauses/read-proofs.ts";
import { BUILT_PARTS, REQUIREMENTS } from "../tests/requirements/index.ts";

const page = join(import.meta.dirname, "..", "docs", "reference", "clauses.md");
const wanted = clausesPage(planClauses(REQUIREMENTS, readProofs()), BUILT_PARTS, checksText(planChecks(CORPUS)));

if (!process.argv.includes("--check")) writeFileSync(page, wanted);
else if (readFileSync(page, "utf8") !== wanted) {
  console.error("docs/reference/clauses.md is out of date: run `npm run docs`");
  process.exitCode = 1;
}
