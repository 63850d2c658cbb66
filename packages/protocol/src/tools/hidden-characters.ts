// Characters a reviewer cannot see but a model reads: bidi controls, zero-width and tag characters, control codes.
// A description that holds one can mean something else than it shows, so registration refuses it (SEC-10).

export interface HiddenCharacter {
  readonly index: number;
  readonly codePoint: number;
}

/** Inclusive ranges, ascending. Tab, line feed and carriage return are visible enough and left out. */
const HIDDEN_RANGES: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x0c],
  [0x0e, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

const ZERO_WIDTH_NON_JOINER = 0x200c;
const ZERO_WIDTH_JOINER = 0x200d;
const TEXT_STYLE = 0xfe0e;
const EMOJI_STYLE = 0xfe0f;

/** Joiners belong to Indic and Arabic spelling and to emoji; between Latin letters they only hide. */
const FIRST_JOINING_SCRIPT = 0x300;

const isHidden = (codePoint: number): boolean => {
  if (codePoint >= 0x20 && codePoint < 0x7f) return false;
  for (const [from, to] of HIDDEN_RANGES) {
    if (codePoint < from) return false;
    if (codePoint <= to) return true;
  }
  return false;
};

const isAllowedHere = (codePoint: number, before: number | undefined, after: number | undefined): boolean => {
  if (codePoint === TEXT_STYLE || codePoint === EMOJI_STYLE) return before !== undefined && !isHidden(before);
  if (codePoint !== ZERO_WIDTH_JOINER && codePoint !== ZERO_WIDTH_NON_JOINER) return false;
  if (before === undefined || after === undefined) return false;
  const beforeJoins = before === EMOJI_STYLE || (before >= FIRST_JOINING_SCRIPT && !isHidden(before));
  return beforeJoins && after >= FIRST_JOINING_SCRIPT && !isHidden(after);
};

export const findHiddenCharacter = (text: string): HiddenCharacter | undefined => {
  let before: number | undefined;
  for (let index = 0; index < text.length; ) {
    const codePoint = text.codePointAt(index) ?? 0;
    const next = index + (codePoint > 0xffff ? 2 : 1);
    if (isHidden(codePoint) && !isAllowedHere(codePoint, before, text.codePointAt(next))) return { index, codePoint };
    before = codePoint;
    index = next;
  }
  return undefined;
};

/** `U+202E`, the way people look a character up. */
export const codePointName = (codePoint: number): string =>
  `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
