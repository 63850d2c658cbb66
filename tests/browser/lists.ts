// Every list of the console: what it asks the API for, and the page that shows it. The names are those of `ListOf` in the sources, so
// that a new list that is not shown here in its states fails the test.

import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("../../packages/console/src/", import.meta.url));

/** By page: what each of its lists asks for. */
export const LISTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/p/demo": { calls: "/projects/demo/calls" },
  "/p/demo/turns": { turns: "/projects/demo/turns" },
  "/p/demo/tools": { tools: "/projects/demo/tools" },
  "/p/demo/tools/word_count": { versions: "/projects/demo/tools/word_count/versions" },
  "/p/demo/agents": { agents: "/projects/demo/agents", profiles: "/projects/demo/profiles" },
  "/p/demo/agents/helper": { "its turns": "/projects/demo/turns" },
  "/p/demo/approvals": { approvals: "/projects/demo/approvals" },
  "/p/demo/dead-letters": { "dead letters": "/projects/demo/dead-letters" },
  "/p/demo/services": { services: "/projects/demo/services", hosts: "/projects/demo/hosts" },
  "/p/demo/audit": { "the audit": "/projects/demo/audit" },
  "/access": { tokens: "/tokens", sessions: "/sessions" },
  "/projects-list": { projects: "/projects" },
};

/** The lists in the sources, and the files that ask for more lists than they draw as one. */
export const findLists = (): { readonly names: readonly string[]; readonly undrawn: readonly string[] } => {
  const files = globSync("**/*.tsx", { cwd: SOURCES }).map((name) => ({
    name,
    text: readFileSync(SOURCES + name, "utf8"),
  }));
  const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;
  return {
    names: files.flatMap(({ text }) => [...text.matchAll(/<ListOf\s+what="([^"]+)"/g)].map(([, name]) => name ?? "")),
    undrawn: files
      .filter(({ text }) => count(text, /= usePages</g) > count(text, /<ListOf\s/g))
      .map(({ name }) => name),
  };
};
