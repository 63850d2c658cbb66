// Writes docs/reference/errors.md from the error table. `--check` writes nothing and fails when the page is out of date.
// Run it with `node --conditions=source scripts/docs-errors.ts`.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorReferenceMarkdown } from "@toolplane/protocol/reference";

const page = join(import.meta.dirname, "..", "docs", "reference", "errors.md");

const readPage = async (): Promise<string> => {
  try {
    return await readFile(page, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
};

const wanted = errorReferenceMarkdown();
if (process.argv.includes("--check")) {
  if ((await readPage()) !== wanted) {
    console.error("docs/reference/errors.md is out of date: run `node --conditions=source scripts/docs-errors.ts`");
    process.exitCode = 1;
  }
} else {
  await mkdir(dirname(page), { recursive: true });
  await writeFile(page, wanted);
}
