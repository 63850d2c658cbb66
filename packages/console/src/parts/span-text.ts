// Durations and times as short text. Pure.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const spanText = (ms: number): string => {
  if (!Number.isFinite(ms)) return "";
  const span = Math.max(0, ms);
  // Rounded before it is divided: 119.7 seconds are 2 min 0 s, not 1 min 60 s.
  if (Math.round(span) < SECOND) return `${Math.round(span)} ms`;
  if (span < 10 * SECOND) return `${(span / SECOND).toFixed(1)} s`;
  const seconds = Math.round(span / SECOND);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(span / MINUTE);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1_440)} d`;
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
