// How long something took, in the unit that a person reads fastest.

import type { Body } from "@toolplane/sdk/client";
import { textOf } from "./body.ts";

const MINUTE_MS = 60_000;

export const spanText = (ms: number): string => {
  const safe = Math.max(0, ms);
  if (safe < 10_000) return `${(safe / 1000).toFixed(safe < 1000 ? 3 : 1)} s`;
  if (safe < 2 * MINUTE_MS) return `${Math.round(safe / 1000)} s`;
  if (safe < 120 * MINUTE_MS) return `${Math.round(safe / MINUTE_MS)} min`;
  return `${(safe / (60 * MINUTE_MS)).toFixed(1)} h`;
};

/** The time between two moments of an answer; undefined while one of them is missing. */
export const spanOf = (body: Body, from: string, to: string): string | undefined => {
  const ms = Date.parse(textOf(body, to) ?? "") - Date.parse(textOf(body, from) ?? "");
  return Number.isNaN(ms) ? undefined : spanText(ms);
};
