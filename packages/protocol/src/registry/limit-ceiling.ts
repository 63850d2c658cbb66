// What the operator of the plane sets for a project in the configuration file is a ceiling: people of the project lower a limit and
// raise it again up to there. Pure.
//   CE1. A limit above the file's, or none where the file has one, is refused by name.
//   CE2. A start does not raise what a person lowered. A limit that is still the file's follows the file.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import type { JsonValue } from "../json/json-value.ts";
import { burstOf, type Rate } from "../tools/limits.ts";
import type { ProjectLimits } from "./project-limits.ts";
import { isEqual } from "./tool-guards.ts";

/** The limits of a project as they are stored, with what the file set at the last start. */
export interface StoredLimits extends ProjectLimits {
  readonly ceiling?: ProjectLimits | undefined;
}

type LimitKey = keyof ProjectLimits;
/** What of a limit is less strict than the file's, in words; nothing when it is as strict. */
type LooserParts<Key extends LimitKey> = (
  limit: NonNullable<ProjectLimits[Key]>,
  ceiling: NonNullable<ProjectLimits[Key]>,
) => readonly (string | false)[];

const above = (name: string, limit: number, ceiling: number): string | false =>
  limit > ceiling && `${name} ${limit} is above the file's ${ceiling}`;

const below = (name: string, limit: number, ceiling: number): string | false =>
  limit < ceiling && `${name} ${limit} is below the file's ${ceiling}`;

const plain =
  (key: LimitKey) =>
  (limit: number, ceiling: number): readonly (string | false)[] => [above(key, limit, ceiling)];

const rateText = ({ limit, per_seconds }: Rate): string => `${limit} in ${per_seconds} s`;

const fasterText = (limit: Rate, ceiling: Rate): string | false => {
  if (limit.limit / limit.per_seconds <= ceiling.limit / ceiling.per_seconds) return false;
  if (limit.per_seconds === ceiling.per_seconds) return above("rate.limit", limit.limit, ceiling.limit);
  return `rate ${rateText(limit)} is above the file's ${rateText(ceiling)}`;
};

const burstText = (limit: Rate, ceiling: Rate): string | false => {
  const [wanted, most] = [burstOf(limit, "refuse"), burstOf(ceiling, "refuse")];
  const why = limit.burst === undefined ? " (the limit, without a burst of its own)" : "";
  return wanted > most && `rate.burst ${wanted}${why} is above the file's ${most}`;
};

const LOOSER_PARTS: { readonly [Key in LimitKey]-?: LooserParts<Key> } = {
  concurrency: plain("concurrency"),
  queue: plain("queue"),
  fork_join_tasks: plain("fork_join_tasks"),
  delegated_turns: plain("delegated_turns"),
  rate: (limit, ceiling) => [fasterText(limit, ceiling), burstText(limit, ceiling)],
  target_breaker: (limit, ceiling) => [
    above("target_breaker.failure_rate", limit.failure_rate, ceiling.failure_rate),
    below("target_breaker.open_seconds", limit.open_seconds, ceiling.open_seconds),
    // In a short window too few runs end, in a long one old successes count.
    limit.window_seconds !== ceiling.window_seconds &&
      `target_breaker.window_seconds ${limit.window_seconds} is not the file's ${ceiling.window_seconds}, and neither is stricter`,
  ],
};

const looserParts = <Key extends LimitKey>(
  key: Key,
  limit: ProjectLimits[Key] | null,
  ceiling: ProjectLimits[Key] | null,
): readonly string[] => {
  if (ceiling == null) return [];
  if (limit == null) return [`${key} would have no limit`];
  return (LOOSER_PARTS[key] as LooserParts<Key>)(limit, ceiling).filter((part) => part !== false);
};

const isAbove = <Key extends LimitKey>(
  key: Key,
  limit: ProjectLimits[Key] | null,
  ceiling: ProjectLimits[Key] | null,
): boolean => looserParts(key, limit, ceiling).length > 0;

const keysOf = (limits: ProjectLimits): readonly LimitKey[] =>
  (Object.keys(limits) as LimitKey[]).filter((key) => limits[key] !== undefined);

const inFile = (key: LimitKey): string =>
  key === "fork_join_tasks" || key === "delegated_turns" ? `limits.${key}` : `limits.project.${key}`;

/** Throws when a change would pass what the file sets. */
export const checkCeiling = (wanted: ProjectLimits, { ceiling = {} }: StoredLimits): void => {
  const key = keysOf(wanted).find((name) => isAbove(name, wanted[name] ?? null, ceiling[name] ?? null));
  if (key === undefined) return;
  const most = JSON.stringify(ceiling[key]);
  const why = looserParts(key, wanted[key] ?? null, ceiling[key] ?? null).join("; ");
  throw new ToolplaneError(
    "bad_request",
    `limits.${key} may not be less strict than ${most}, which the configuration file has set as ${inFile(key)}: ${why}`,
    {
      detail: {
        limit: key,
        ceiling: ceiling[key] as JsonValue,
        todo: "ask the operator to change it in the file and start the plane again; null in the file takes the limit and its ceiling away",
      },
    },
  );
};

/** What a start changes: `null` in the file takes the limit and its ceiling away, a key that is left out stays as it is stored. */
export const planFileLimits = (file: ProjectLimits, stored: StoredLimits): StoredLimits => {
  const { ceiling = {} } = stored;
  const isLowered = (key: LimitKey): boolean =>
    stored[key] != null && !isEqual(stored[key], ceiling[key]) && !isAbove(key, stored[key], file[key] ?? null);
  const changed = keysOf(file).filter((key) => file[key] === null || !isLowered(key));
  return { ...Object.fromEntries(changed.map((key) => [key, file[key]])), ceiling: { ...ceiling, ...file } };
};
