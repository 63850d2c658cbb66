// Durations and times as people write them: `500ms`, `30s`, `5m`, `2h`, `30d`, a plain number of seconds.

import { WrongUsage } from "./wrong-usage.ts";

const UNITS: ReadonlyMap<string, number> = new Map([
  ["", 1_000],
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** Ten years: more is a slip of the keyboard, and still far from where numbers lose their unit digits. */
const MAX_MS = 3_650 * 86_400_000;

const isNumberChar = (char: string): boolean => (char >= "0" && char <= "9") || char === ".";

export const tryParseDuration = (text: string): number | undefined => {
  let end = 0;
  while (end < text.length && isNumberChar(text.charAt(end))) end += 1;
  const unit = UNITS.get(text.slice(end));
  const amount = Number(text.slice(0, end));
  if (end === 0 || unit === undefined || !Number.isFinite(amount)) return undefined;
  const ms = Math.round(amount * unit);
  return ms > MAX_MS ? undefined : ms;
};

/** Milliseconds; `flag` is named when it cannot be read. */
export const parseDuration = (text: string, flag: string): number => {
  const ms = tryParseDuration(text);
  if (ms === undefined)
    throw new WrongUsage(`${flag} takes a duration such as 500ms, 30s, 5m, 2h or 30d, not "${text}"`);
  return ms;
};

/** A moment: ISO 8601, or `+10m` from now. */
export const parseMoment = (text: string, nowMs: number, flag: string): Date => {
  const ahead = text.startsWith("+") ? tryParseDuration(text.slice(1)) : undefined;
  const ms = ahead === undefined ? Date.parse(text) : nowMs + ahead;
  if (Number.isNaN(ms))
    throw new WrongUsage(`${flag} takes a time such as 2030-01-31T08:00:00Z or +10m, not "${text}"`);
  return new Date(ms);
};

/** A moment of the past: ISO 8601, or `10m` ago. */
export const parsePast = (text: string, nowMs: number, flag: string): Date => {
  const ago = tryParseDuration(text);
  const ms = ago === undefined ? Date.parse(text) : nowMs - ago;
  if (Number.isNaN(ms))
    throw new WrongUsage(
      `${flag} takes a time such as 2026-01-31T08:00:00Z, or 10m for ten minutes ago, not "${text}"`,
    );
  return new Date(ms);
};
