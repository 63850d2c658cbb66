// Finds every list of rules below a folder: each `.ts` file that exports `rules`. Nobody has to enter a new list anywhere,
// so none can be forgotten.

import { globSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Rule } from "./rule.ts";

export interface RuleList {
  /** Relative to the folder. */
  readonly file: string;
  readonly rules: readonly Rule[];
}

export const collectRules = async (folder: string): Promise<readonly RuleList[]> => {
  const files = globSync("**/*.ts", { cwd: folder, exclude: ["**/*.test.ts", "index.ts"] }).sort();
  const lists = await Promise.all(
    files.map(async (file) => {
      const exported = (await import(pathToFileURL(join(folder, file)).href)) as { rules?: readonly Rule[] };
      return { file, rules: exported.rules ?? [] };
    }),
  );
  return lists.filter(({ rules }) => rules.length > 0);
};
