// The definitions that a service names when it asks for work: of each tool the definition its code has, and the one that the plane
// made of it. The plane knows by them which calls of tools with `pin: strict` are this code's, whatever options a person changes.

import type { ServedTool } from "./register-tools.ts";

/** As many as the plane takes. */
const MAX_NAMED = 256;

/** Tools that are pinned come first: only for them a missing hash matters. */
export const planNamedDefinitions = (
  served: Iterable<Pick<ServedTool, "definitionHash" | "ownHash" | "pin">>,
): readonly string[] => {
  const pinnedFirst = [...served].sort((a, b) => Number(b.pin === "strict") - Number(a.pin === "strict"));
  return [...new Set(pinnedFirst.flatMap(({ definitionHash, ownHash }) => [definitionHash, ownHash]))].slice(
    0,
    MAX_NAMED,
  );
};
