// Up to where the stream of commands may be cut off. Pure.

/** The newest number that the stream had at a time. */
export interface Mark {
  readonly at: number;
  readonly last: number;
}

/**
 * The first number to keep. `open` are the oldest open commands of all durables. A command that no durable is for is kept until it
 * is `keepMs` old: its durable may be made meanwhile. Undefined when nothing is known to be that old. Never 1: a server (2.9.10) reads
 * a purge up to number 1 as one without a number, and throws away everything, also the commands that came a moment ago.
 */
export const planTrim = (
  marks: readonly Mark[],
  open: readonly number[],
  { now, keepMs }: { readonly now: number; readonly keepMs: number },
): number | undefined => {
  const old = marks.findLast(({ at }) => at <= now - keepMs);
  if (old === undefined) return undefined;
  const first = Math.min(old.last + 1, ...open);
  return first > 1 ? first : undefined;
};

/** With the newest mark, and without those that `planTrim` can no longer need. */
export const addMark = (marks: readonly Mark[], mark: Mark, keepMs: number): readonly Mark[] => {
  const needed = marks.findLastIndex(({ at }) => at <= mark.at - keepMs);
  return [...marks.slice(Math.max(needed, 0)), mark];
};
