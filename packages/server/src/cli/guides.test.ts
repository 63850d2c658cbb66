// The guides name only what there is: every `toolplane` command in them is a command of this version with its flags, every link leads to a
// file, and no guide installs a package from the registry before the packages are there.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkCommand, findCommand, parseCommandLine } from "./command-line.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const PAGES = ["README.md", ...globSync("{docs,docs/guides,deploy/*,examples}/*.md", { cwd: ROOT })].toSorted();
const GUIDES = PAGES.filter((page) => page === "README.md" || page.startsWith("docs/guides/"));
const read = (page: string): string => readFileSync(join(ROOT, page), "utf8");

/** The words of a command as a shell would give them, as far as the guides use a shell. */
const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/'([^']*)'|"([^"]*)"|[^\s'"]+/g)].map(([whole, single, double]) => single ?? double ?? whole);

const commandsIn = (page: string): readonly string[] =>
  [...read(page).matchAll(/^```sh[^\n]*\n([\s\S]*?)^```/gm)]
    .flatMap(([, text = ""]) => text.replaceAll("\\\n", " ").split("\n"))
    .map((line) =>
      line
        .replace(/\s+#.*$/, "")
        .replace(/\s\d?>.*$/, "")
        .trim(),
    )
    .flatMap((line) => /(?:^|[\s(])(?:npx )?toolplane (?!-host)([^)|&;>]+)/.exec(line)?.[1]?.trim() ?? []);

test.each(GUIDES.filter((page) => commandsIn(page).length > 0))(
  "[REPO-guides] every command of %s exists, with its flags and as many arguments",
  (page) => {
    for (const command of commandsIn(page)) {
      const { words, flags } = parseCommandLine(wordsOf(command));
      expect(() => checkCommand(findCommand(words), flags), command).not.toThrow();
    }
  },
);

test("[REPO-guides] every link between pages leads to a file", () => {
  const missing = PAGES.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, link]) => join(dirname(page), link ?? ""))
      // Records are written by long runs.
      .filter((path) => !path.startsWith("docs/records/"))
      .filter((path) => !existsSync(join(ROOT, path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

test("[REPO-guides] no page installs a package that is not published", () => {
  for (const page of PAGES) expect(read(page), page).not.toMatch(/npm (?:install|i|create|exec) @toolplane/);
});

test("[REPO-guides] the way in has a path for each purpose", () => {
  const start = read("docs/README.md");
  for (const purpose of ["a tool", "an agent", "my own agent loop", "an API", "deploy", "operate"])
    expect(start).toContain(`**${purpose}**`);
});
