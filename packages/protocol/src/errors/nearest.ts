// The word that was probably meant: the known one with the fewest letters changed, added or left out. Two letters that changed places count
// as one mistake.

/** With two mistakes a shorter word becomes too many others: two letters less make `at` of `wait`. */
const LONG = 6;
const MOST = 2;

/** More mistakes than that make it another word. */
const mostMistakes = (word: string, other: string): number => (word.length < LONG || other.length < LONG ? 1 : MOST);

const mistakesBetween = (one: string, other: string): number => {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= one.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= other.length; j++) {
      const changed = at(i - 1, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const swapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1] ? at(i - 2, j - 2) + 1 : changed;
      rows[i]?.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, swapped));
    }
  }
  return at(one.length, other.length);
};

export const nearest = (word: string, known: Iterable<string>): string | undefined => {
  let found: string | undefined;
  let fewest = MOST + 1;
  for (const candidate of known) {
    const mistakes = mistakesBetween(word, candidate);
    if (mistakes >= fewest || mistakes > mostMistakes(word, candidate)) continue;
    fewest = mistakes;
    found = candidate;
  }
  return found;
};

/** To be put behind a sentence that says that there is no such word. */
export const didYouMean = (word: string, known: Iterable<string>, prefix = ""): string => {
  const meant = nearest(word, known);
  return meant === undefined ? "" : `; did you mean ${prefix}${meant}?`;
};
