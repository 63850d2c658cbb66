// Which ids a trace can be found among. Pure.

export interface IdSpan {
  readonly from: string;
  /** Not included. */
  readonly to: string;
  /** The trace id says its time: everything that began with it is in the span. */
  readonly known: boolean;
}

const UUID7 = /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
const TIME_DIGITS = 12;
/** The ids of a request and its trace are made within milliseconds; clocks of several processes differ by seconds. */
const AROUND_MS = 60_000;

const hexOf = (ms: number): string => Math.max(0, ms).toString(16).padStart(TIME_DIGITS, "0");

export const planSpan = (traceId: string): IdSpan => {
  if (!UUID7.test(traceId)) return { from: "", to: "g", known: false };
  const ms = Number.parseInt(traceId.slice(0, TIME_DIGITS), 16);
  return { from: hexOf(ms - AROUND_MS), to: hexOf(ms + AROUND_MS), known: true };
};
