// Pieces of a long text. A cut never falls inside a surrogate pair: half a character can not be stored or sent.

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** The nearest place at or after `at` that is between two characters. */
export const characterEdge = (text: string, at: number): number => {
  if (at <= 0) return 0;
  if (at >= text.length) return text.length;
  return isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1)) ? at + 1 : at;
};

export interface Excerpt {
  readonly head: string;
  readonly tail: string;
  /** [from, to) is what was left out. */
  readonly from: number;
  readonly to: number;
}

/** The share of an excerpt that its beginning gets: an answer mostly says at its start what it is. */
const HEAD_SHARE = 0.7;

/** Beginning and end of a text that is longer than `limit`; undefined when it fits. */
export const excerpt = (text: string, limit: number): Excerpt | undefined => {
  if (text.length <= limit) return undefined;
  const from = characterEdge(text, Math.floor(limit * HEAD_SHARE));
  const to = Math.max(from, characterEdge(text, text.length - (limit - from)));
  return { head: text.slice(0, from), tail: text.slice(to), from, to };
};

/** The length that an old text is cut to. */
export const SHORT_CHARS = 1000;

/** The text, or its two ends with a note of what is between them. */
export const shortText = (text: string): string => {
  const cut = excerpt(text, SHORT_CHARS);
  return cut === undefined ? text : `${cut.head}\n[... ${cut.to - cut.from} characters not shown ...]\n${cut.tail}`;
};
