// Counting words: of a text, and of counts that were made elsewhere. Pure.

export interface WordCount {
  readonly word: string;
  readonly count: number;
}

export interface WordCounts {
  /** Words in all, also those beyond the first `top_k`. */
  readonly total: number;
  /** Different words in all. */
  readonly distinct: number;
  readonly words: readonly WordCount[];
}

const IS_PART_OF_WORD = /[\p{L}\p{N}\p{M}]/u;

/** Lower-case, without what is not a letter or digit at its edges; empty when nothing is left. */
const trimWord = (token: string): string => {
  const chars = [...token];
  const first = chars.findIndex((char) => IS_PART_OF_WORD.test(char));
  const last = chars.findLastIndex((char) => IS_PART_OF_WORD.test(char));
  return first < 0
    ? ""
    : chars
        .slice(first, last + 1)
        .join("")
        .toLowerCase();
};

const compareWords = (a: WordCount, b: WordCount): number =>
  b.count - a.count || (a.word < b.word ? -1 : a.word > b.word ? 1 : 0);

const summarise = (counts: ReadonlyMap<string, number>, topK: number): WordCounts => {
  const all = [...counts].map(([word, count]) => ({ word, count })).sort(compareWords);
  return {
    total: all.reduce((sum, { count }) => sum + count, 0),
    distinct: all.length,
    words: all.slice(0, topK),
  };
};

export const countWords = (text: string, topK: number): WordCounts => {
  const counts = new Map<string, number>();
  for (const token of text.split(/\s+/u)) {
    const word = trimWord(token);
    if (word !== "") counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return summarise(counts, topK);
};

/** Adds up counts of parts. Words a part left out (its own top_k) are missing here too. */
export const mergeCounts = (parts: readonly { readonly words: readonly WordCount[] }[], topK: number): WordCounts => {
  const counts = new Map<string, number>();
  for (const { words } of parts) for (const { word, count } of words) counts.set(word, (counts.get(word) ?? 0) + count);
  return summarise(counts, topK);
};
