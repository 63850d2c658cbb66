// Text of tools and agents, made safe to look at. Control characters and the characters that change the direction of text are
// shown as marks, so that what a person reads is what is there, in the order in which it is there. Pure.

export interface TextRun {
  readonly text: string;
  /** A character that would be invisible or misleading, shown by its name. */
  readonly isMark: boolean;
}

/** First and last code points. Tab, line break and the selectors of coloured emoji are harmless. */
const HIDDEN: readonly (readonly [number, number])[] = [
  // Controls.
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  // Soft hyphen, joiners and letters that are drawn as nothing.
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180e],
  [0x3164, 0x3164],
  [0xffa0, 0xffa0],
  // Zero width, direction, separators of lines.
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  // Half of a character.
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0d],
  [0xfeff, 0xfeff],
  [0xfff0, 0xfffc],
  [0xe0000, 0xe01ef],
];

const isHidden = (code: number): boolean => HIDDEN.some(([first, last]) => code >= first && code <= last);

const NAMES: Readonly<Record<number, string>> = {
  0: "NUL",
  8: "BS",
  13: "CR",
  27: "ESC",
  127: "DEL",
  173: "SHY",
  8203: "ZWSP",
  8204: "ZWNJ",
  8205: "ZWJ",
  8206: "LRM",
  8207: "RLM",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
  65279: "BOM",
};

const nameOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  return NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
};

/** The text in runs; joined they hold everything that the text holds. */
export const planRuns = (text: string): readonly TextRun[] => {
  const runs: TextRun[] = [];
  let from = 0;
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    if (isHidden(character.codePointAt(0) ?? 0)) {
      if (at > from) runs.push({ text: text.slice(from, at), isMark: false });
      runs.push({ text: nameOf(character), isMark: true });
      from = end;
    }
    at = end;
  }
  if (from < text.length) runs.push({ text: text.slice(from), isMark: false });
  return runs;
};

/** The same as one string, for places that take no markup: titles, names for screen readers. */
export const visibleText = (text: string): string =>
  planRuns(text)
    .map((run) => (run.isMark ? `[${run.text}]` : run.text))
    .join("");

/** The beginning of a long text, never half a character. */
export const cutText = (text: string, length: number): string => {
  if (text.length <= length) return text;
  const isHalf = (text.codePointAt(length - 1) ?? 0) > 0xffff;
  return text.slice(0, isHalf ? length - 1 : length);
};
