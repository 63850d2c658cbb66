// What the operator of the plane sets for a project in the configuration file is a ceiling: people of the project lower a limit and
// raise it again up to there. Pure.
//   CE1. A limit above the file's, or none where the file has one, is refused by name.
//   CE2. A start does not raise what a person lowered. A limit that is still the file's follows the file.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import type { JsonValue } from "../json/json-value.ts";
import { burstOf } from "../tools/limits.ts";
import type { ProjectLimits } from "./project-limits.ts";
import { isEqual } from "./tool-guards.ts";

/** The limits of a project as they are stored, with what the file set at the last start. */
export interface StoredLimits extends ProjectLimits {
  readonly ceiling?: ProjectLimits | undefined;
}

type LimitKey = keyof ProjectLimits;
type IsAbove<Key extends LimitKey> = (
  limit: NonNullable<ProjectLimits[Key]>,
  ceiling: NonNullable<ProjectLimits[Key]>,
) => boolean;

const isMore = (limit: number, ceiling: number): boolean => limit > ceiling;

const IS_ABOVE: { readonly [Key in LimitKey]-?: IsAbove<Key> } = {
  concurrency: isMore,
  queue: isMore,
  fork_join_tasks: isMore,
  delegated_turns: isMore,
  rate: (limit, ceiling) =>
    limit.limit / limit.per_seconds > ceiling.limit / ceiling.per_seconds ||
    burstOf(limit, "refuse") > burstOf(ceiling, "refuse"),
  target_breaker: (limit, ceiling) =>
    limit.failure_rate > ceiling.failure_rate ||
    limit.open_seconds < ceiling.open_seconds ||
    // Neither is stricter: in a short window too few runs end, in a long one old successes count.
    limit.window_seconds !== ceiling.window_seconds,
};

const isAbove = <Key extends LimitKey>(
  key: Key,
  limit: ProjectLimits[Key] | null,
  ceiling: ProjectLimits[Key] | null,
): boolean => ceiling != null && (limit == null || (IS_ABOVE[key] as IsAbove<Key>)(limit, ceiling));

const keysOf = (limits: ProjectLimits): readonly LimitKey[] =>
  (Object.keys(limits) as LimitKey[]).filter((key) => limits[key] !== undefined);

const inFile = (key: LimitKey): string =>
  key === "fork_join_tasks" || key === "delegated_turns" ? `limits.${key}` : `limits.project.${key}`;

/** Throws when a change would pass what the file sets. */
export const checkCeiling = (wanted: ProjectLimits, { ceiling = {} }: StoredLimits): void => {
  const above = keysOf(wanted).find((key) => isAbove(key, wanted[key] ?? null, ceiling[key] ?? null));
  if (above === undefined) return;
  const most = JSON.stringify(ceiling[above]);
  throw new ToolplaneError(
    "bad_request",
    `limits.${above} may not be less strict than ${most}, which the configuration file has set as ${inFile(above)}`,
    {
      detail: {
        limit: above,
        ceiling: ceiling[above] as JsonValue,
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
