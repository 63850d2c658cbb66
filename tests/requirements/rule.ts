// One normative rule of the specification: where it comes from, which part of the project keeps it, and what it says.

export interface Rule {
  /** Stable id; a test proves the rule by carrying `[id]` in its title. */
  readonly id: string;
  readonly source: string;
  /** The part that keeps the rule: a package, or a part that is not built yet. */
  readonly part: string;
  readonly text: string;
}
