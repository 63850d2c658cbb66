// What the limits do, in a few words. Pure.

import type { LimitBody } from "./limit-body.ts";

export interface LimitLight {
  readonly tone: "good" | "warn" | "bad";
  readonly text: string;
  /** The tool that the words are about; undefined when they are about several, or about the project. */
  readonly tool: string | undefined;
}

const nameOf = ({ tool_name, target }: LimitBody): string =>
  tool_name ?? (target === null ? "the project" : `target ${target}`);

const only = (items: readonly LimitBody[]): string | undefined =>
  items.length === 1 ? (items[0]?.tool_name ?? undefined) : undefined;

const isOpen = ({ breaker_opened_at }: LimitBody): boolean => breaker_opened_at !== null;

/** An open breaker holds calls back, too: it is said once, as a breaker. */
const isHolding = (limit: LimitBody): boolean => !isOpen(limit) && limit.held_by !== null && limit.waiting > 0;

/** For the line of the plane's health: open breakers, then limits at which calls wait, otherwise that all have room. */
export const planLimitLights = (items: readonly LimitBody[]): readonly LimitLight[] => {
  if (items.length === 0) return [];
  const open = items.filter(isOpen);
  const holding = items.filter(isHolding);
  const [first] = holding;
  const lights: LimitLight[] = [];
  if (open.length > 0)
    lights.push({
      tone: "bad",
      text: open.length === 1 ? `breaker of ${open.map(nameOf).join()} is open` : `${open.length} breakers are open`,
      tool: only(open),
    });
  if (first !== undefined)
    lights.push({
      tone: "warn",
      text:
        holding.length === 1
          ? `${nameOf(first)} is at its limit, ${first.waiting} wait`
          : `${holding.length} limits are reached`,
      tool: only(holding),
    });
  if (lights.length > 0) return lights;
  return [{ tone: "good", text: items.length === 1 ? "1 limit" : `${items.length} limits`, tool: only(items) }];
};

const HOLDS: Readonly<Record<string, string>> = {
  concurrency: "All slots are taken",
  rate: "The rate is used up",
  breaker: "The breaker is open",
};

/** One limit, for the page of its tool. */
export const limitWords = (limit: LimitBody): string => {
  const { held_by, running, waiting } = limit;
  const counts = `${running} run, ${waiting} wait`;
  return held_by === null ? `There is room: ${counts}.` : `${HOLDS[held_by] ?? held_by}: ${counts}.`;
};
