// Repeatable randomness: the same seed gives the same choices. (xorshift32)

export interface Chance {
  readonly seed: number;
  /** A whole number from `from` up to and including `to`. */
  between(from: number, to: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

export const createChance = (seed: number): Chance => {
  let state = seed | 0 || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return { seed, between, pick: (items) => items[between(0, items.length - 1)] ?? items[0] };
};
