// Holds the rules against the claims of the tests. A rule of a built part that no test claims, an id listed twice and a
// claim of a rule that does not exist are faults; rules of parts that are not built are counted.

import type { Proof } from "./proofs.ts";
import type { Rule } from "./rule.ts";

export interface Coverage {
  readonly faults: readonly string[];
  /** Part -> rules of it that a test claims, and rules in all. */
  readonly parts: ReadonlyMap<string, { readonly claimed: number; readonly listed: number }>;
}

export const planCoverage = (rules: readonly Rule[], claims: readonly Proof[], builtParts: ReadonlySet<string>): Coverage => {
  const claimed = new Set(claims.map(({ id }) => id));
  const known = new Set<string>();
  const faults: string[] = [];
  const parts = new Map<string, { claimed: number; listed: number }>();
  for (const { id, part, source, text } of rules) {
    if (known.has(id)) faults.push(`${id} is listed twice (${source})`);
    known.add(id);
    const count = parts.get(part) ?? { claimed: 0, listed: 0 };
    parts.set(part, { claimed: count.claimed + (claimed.has(id) ? 1 : 0), listed: count.listed + 1 });
    if (builtParts.has(part) && !claimed.has(id)) faults.push(`${id} (${part}) is claimed by no test: ${text}`);
  }
  for (const { id, file } of claims) if (!known.has(id)) faults.push(`${id} is claimed in ${file} but listed nowhere`);
  return { faults, parts };
};

export const formatCoverage = ({ parts }: Coverage, builtParts: ReadonlySet<string>): string => {
  const rows = [...parts].sort(([a], [b]) => (a < b ? -1 : 1));
  const built = rows.filter(([part]) => builtParts.has(part));
  const later = rows.filter(([part]) => !builtParts.has(part));
  const sum = (list: typeof rows, key: "claimed" | "listed"): number => list.reduce((n, [, count]) => n + count[key], 0);
  return [
    `requirements: ${sum(rows, "listed")} rules`,
    `  built, proven by tests: ${sum(built, "claimed")} of ${sum(built, "listed")} (${built.map(([part, { listed }]) => `${part} ${listed}`).join(", ")})`,
    `  NOT BUILT YET, proven by nothing: ${sum(later, "listed") - sum(later, "claimed")} of ${sum(later, "listed")}`,
    ...later.map(([part, { claimed, listed }]) => `    ${part}: ${listed}${claimed > 0 ? ` (${claimed} claimed already)` : ""}`),
  ].join("\n");
};
