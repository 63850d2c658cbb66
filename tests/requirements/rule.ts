// One normative rule of the specification: where it comes from, which part of the project keeps it, and what it says.

import type { Door } from "../clauses/door.ts";

export interface Rule {
  /** Stable id; a test proves the rule by carrying `[id]` in its title. */
  readonly id: string;
  readonly source: string;
  /** The part that keeps the rule: a package, or a part that is not built yet. */
  readonly part: string;
  readonly text: string;
  /** The doors at which it can be broken, each of which a test of it must try; without them its clause's doors count. */
  readonly doors?: readonly Door[] | undefined;
}
