// What is deleted, and when. Nothing is deleted unless the file asks for it, so a number that cannot be meant is refused, and
// never rounded to one that deletes more.

import type { RetentionPolicy } from "@toolplane/engine";
import { isToken } from "@toolplane/protocol";
import { refuseConfig } from "./refuse.ts";
import type { SettingsInput } from "./setting-value.ts";

const KEEP = "forever";
const DAY_SECONDS = 86_400;
/** A quarter of an hour: callers that wait for a call, or send it again under its key, have come by then. */
const LEAST_DAYS = 0.01;
/** A century; more is a slip of the finger, and `forever` says it better. */
const MOST_DAYS = 36_500;

const shown = (value: unknown): string =>
  typeof value === "number" ? String(value) : JSON.stringify(value).slice(0, 64);

export const planRetention = ({ file }: SettingsInput): RetentionPolicy | undefined => {
  const section = file?.config.retention;
  if (section === undefined) return undefined;

  const readDays = (path: readonly string[], value: unknown): number => {
    if (value === KEEP) return Number.POSITIVE_INFINITY;
    if (typeof value !== "number" || !(value >= LEAST_DAYS && value <= MOST_DAYS))
      throw refuseConfig(
        `${file?.where(path)}: ${path.join(".")} is a number of days from ${LEAST_DAYS} to ${MOST_DAYS}, or ${KEEP}, not ${shown(value)}`,
      );
    return value * DAY_SECONDS;
  };

  const projects = Object.entries(section.projects ?? {}).map(([name, days]): readonly [string, number] => {
    if (!isToken(name))
      throw refuseConfig(
        `${file?.where(["retention", "projects"], name)}: retention.projects: ${shown(name)} is not the name of a project`,
      );
    return [name, readDays(["retention", "projects", name], days)];
  });
  if (section.days === undefined && projects.length === 0)
    throw refuseConfig(
      `${file?.where(["retention"])}: retention says nothing: set retention.days or retention.projects`,
    );
  return { seconds: readDays(["retention", "days"], section.days ?? KEEP), projects: new Map(projects) };
};
