// What the repository itself promises to the people who work in it.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "REPO-1-1", source: "boundaries", part: "repo", text: "An import that the nearest manifest does not declare is refused." },
  { id: "REPO-1-2", source: "boundaries", part: "repo", text: "Shipped code of protocol imports no Node module." },
  { id: "REPO-1-3", source: "boundaries", part: "repo", text: "A relative import does not leave its package." },
  { id: "REPO-1-4", source: "boundaries", part: "repo", text: "Files do not import each other in a ring." },
  { id: "REPO-1-5", source: "boundaries", part: "repo", text: "SQL text of shipped code lives only in *.sql.ts files." },
  { id: "REPO-1-6", source: "boundaries", part: "repo", text: "Shipped code throws no error without a code." },
  { id: "REPO-1-7", source: "boundaries", part: "repo", text: "There are no default exports and no export of everything." },
  { id: "REPO-1-8", source: "boundaries", part: "repo", text: "Protocol and engine take time, ids and randomness from their callers." },
  { id: "REPO-1-9", source: "boundaries", part: "repo", text: "Files are named in kebab-case by the noun they hold." },
  { id: "REPO-1-10", source: "boundaries", part: "repo", text: "A file of more than 400 lines is refused, of more than 300 warned about." },
  { id: "REPO-1-11", source: "boundaries", part: "repo", text: "No tracked file holds a path of one machine or the address of a registry." },
  { id: "REPO-1-12", source: "boundaries", part: "repo", text: "Each break is reported as one line with file, line, rule and what to do." },
  { id: "REPO-1-13", source: "boundaries", part: "repo", text: "The lock file holds every optional build, so npm ci works on every platform." },
  { id: "REPO-1-14", source: "boundaries", part: "repo", text: "A declaration of shipped code that no program and no door for users reaches is refused, also when a test calls it." },
  { id: "REPO-1-15", source: "boundaries", part: "repo", text: "An export that no file imports is refused, and so is a name on a package's list that no other package imports." },
  { id: "REPO-1-16", source: "boundaries", part: "repo", text: "What only tests import from a package is in its internal door, which shipped code of other packages may not import." },
  { id: "REPO-2-1", source: "requirements", part: "repo", text: "A rule of a built part that no test claims fails the tests." },
  { id: "REPO-2-2", source: "requirements", part: "repo", text: "A rule's id is listed once." },
  { id: "REPO-2-3", source: "requirements", part: "repo", text: "A test claims only rules that are listed." },
  { id: "REPO-2-4", source: "requirements", part: "repo", text: "Rules of parts that are not built yet are counted out loud." },
  { id: "REPO-2-5", source: "requirements", part: "repo", text: "Every list of rules in the folder is part of the manifest." },
  { id: "REPO-3-1", source: "architecture", part: "repo", text: "The packages a manifest depends on are the ones the architecture page lists." },
  { id: "REPO-3-2", source: "architecture", part: "repo", text: "The architecture page says built for packages with code and planned for the others." },
  { id: "REPO-3-3", source: "architecture", part: "repo", text: "engine and sdk never import each other." },
  { id: "REPO-3-4", source: "architecture", part: "repo", text: "Every built package is part of the build, in the order of its dependencies." },
  { id: "REPO-3-5", source: "architecture", part: "repo", text: "What is published is plain ESM with declarations that loads without the source condition and exports what the source exports." },
  { id: "REPO-4-1", source: "launchers", part: "repo", text: "A Node that is too old is answered with one sentence that says what to do, and exit code 1." },
  { id: "REPO-5-1", source: "continuous integration", part: "repo", text: "The count of passed and failed tests comes from the report, and a run without tests is a failure." },
] as const satisfies readonly Rule[];
