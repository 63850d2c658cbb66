// A file is named by the noun it holds. Names that say nothing only ever grow.

import { broken, type Violation } from "./violation.ts";
import type { Workspace } from "./workspace.ts";

/** Refused as a whole name and as a part of one (`call-utils`, `context-impl`). */
const EMPTY_WORDS = new Set(["util", "utils", "helper", "helpers", "common", "manager", "impl"]);

/** Refused only alone: `card-types.ts` can be about types of cards. */
const EMPTY_NAMES = new Set(["types", "misc", "shared", "lib"]);

const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const saysNothing = (name: string): boolean =>
  EMPTY_NAMES.has(name) || name.split("-").some((part) => EMPTY_WORDS.has(part));

const checkSegment = (path: string, segment: string): Violation | undefined => {
  const name = segment.split(".")[0] ?? "";
  if (saysNothing(name)) return broken("banned-name", path, 1, `name it by the noun it holds, not "${name}"`);
  return KEBAB.test(name) ? undefined : broken("banned-name", path, 1, `write "${name}" in kebab-case`);
};

export const checkFileNames = (workspace: Workspace): readonly Violation[] =>
  [...workspace.sources.keys()].flatMap((path) =>
    path
      .split("/")
      .map((segment) => checkSegment(path, segment))
      .filter((violation) => violation !== undefined),
  );
