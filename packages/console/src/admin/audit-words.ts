// An entry of the audit as people read it. Pure.

import { isRecord } from "../api/problem.ts";
import type { Place } from "../router/place.ts";

/** A hash is recognised by its beginning. */
const HASH = /^[0-9a-f]{33,}$/u;
const HASH_CHARS = 8;
const MOST_CHARS = 120;

/** `dead_letter.replayed` is "dead letter replayed". */
export const actWords = (act: string): string => act.replaceAll(/[._]/gu, " ");

const valueWords = (value: unknown): string => {
  if (typeof value === "string") return HASH.test(value) ? `${value.slice(0, HASH_CHARS)}…` : value;
  if (Array.isArray(value)) return value.map(valueWords).join(", ");
  const text = JSON.stringify(value) ?? "";
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text;
};

/** Says nothing that a reader would have to skip. */
const isSaid = (value: unknown): boolean =>
  value !== null &&
  value !== false &&
  value !== "" &&
  !(Array.isArray(value) && value.length === 0) &&
  !(isRecord(value) && Object.keys(value).length === 0);

/** Each name with its value; an empty list when there is nothing to say. */
export const detailWords = (detail: unknown): readonly (readonly [string, string])[] => {
  if (!isRecord(detail)) return isSaid(detail) && detail !== undefined ? [["detail", valueWords(detail)]] : [];
  return Object.entries(detail)
    .filter(([, value]) => isSaid(value))
    .map(([name, value]) => [name.replaceAll("_", " "), valueWords(value)] as const);
};

const KINDS: Readonly<Record<string, "tool" | "call" | "turn" | "agent">> = {
  tool: "tool",
  call: "call",
  turn: "turn",
  agent: "agent",
};

/** Where the thing that an act was about is shown; undefined when it has no page. */
export const placeOfSubject = (project: string, act: string, subject: string | null): Place | undefined => {
  const kind = KINDS[act.split(".")[0] ?? ""];
  return kind === undefined || subject === null || subject === "" ? undefined : { kind, project, id: subject };
};
