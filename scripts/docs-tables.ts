// Writes the parts of reference pages that are made from tables of the code: each stands between `<!-- made: NAME -->` and
// `<!-- end of NAME -->`. `--check` writes nothing and fails when a page is out of date.
// Run it with `node --conditions=source scripts/docs-tables.ts`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatedParts } from "@toolplane/server/reference";

const DIRECTORY = join(import.meta.dirname, "..", "docs", "reference");
const isCheck = process.argv.includes("--check");

const complain = (message: string): void => {
  console.error(message);
  process.exitCode = 1;
};

for (const [name, parts] of Object.entries(generatedParts())) {
  const page = join(DIRECTORY, name);
  const before = readFileSync(page, "utf8");
  let after = before;
  for (const [part, text] of Object.entries(parts)) {
    const [begin, end] = [`<!-- made: ${part} -->`, `<!-- end of ${part} -->`];
    const [from, to] = [after.indexOf(begin), after.indexOf(end)];
    if (from < 0 || to < from) complain(`docs/reference/${name} has no place for ${part}: write ${begin} and ${end}`);
    else after = `${after.slice(0, from + begin.length)}\n${text}\n${after.slice(to)}`;
  }
  if (!isCheck) writeFileSync(page, after);
  else if (after !== before) complain(`docs/reference/${name} is out of date: run \`npm run docs\``);
}
