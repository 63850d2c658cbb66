// Durations and times as short text. Pure.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const spanText = (ms: number): string => {
  if (!Number.isFinite(ms)) return "";
  const span = Math.max(0, ms);
  if (span < SECOND) return `${Math.round(span)} ms`;
  if (span < 10 * SECOND) return `${(span / SECOND).toFixed(1)} s`;
  if (span < MINUTE) return `${Math.round(span / SECOND)} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min ${Math.round((span % MINUTE) / SECOND)} s`;
  if (span < DAY) return `${Math.floor(span / HOUR)} h ${Math.round((span % HOUR) / MINUTE)} min`;
  return `${Math.floor(span / DAY)} d`;
};

/** The time of day; the date too when it is another day. */
export const clockText = (at: string, now: Date): string => {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  const time = date.toTimeString().slice(0, 8);
  const isToday = date.toDateString() === now.toDateString();
  if (isToday) return time;
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
};

/** Milliseconds between two times of the API; undefined when one is missing. */
export const spanBetween = (from: string | null | undefined, to: string | null | undefined): number | undefined =>
  from && to ? Date.parse(to) - Date.parse(from) : undefined;
