// A text as its reader would understand it: with the escapes of JSON (`\/`, `\u002F`, `\"`) or of URLs (`%2f`) resolved. A secret can
// be escaped in more ways than could be listed, so secrets are looked for in the resolved text; every position of it is known in
// the text as it stands.

/** `at[i]` is where unit `i` of `text` begins in the original; the last entry is the original's end. */
export interface Spelling {
  readonly text: string;
  readonly at: readonly number[];
  /** Its units are bytes of UTF-8. */
  readonly isBytes: boolean;
}

const SHORT: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const ESCAPED = '"\\/';
const HEX_4 = /^[0-9a-f]{4}$/iu;
const HEX_2 = /^[0-9a-f]{2}$/iu;

/** The unit that an escape at `at` stands for, and its length; undefined when it is none. */
const readEscape = (text: string, at: number): readonly [string, number] | undefined => {
  const next = text[at + 1] ?? "";
  if (next === "u") {
    const digits = text.slice(at + 2, at + 6);
    return HEX_4.test(digits) ? [String.fromCharCode(Number.parseInt(digits, 16)), 6] : undefined;
  }
  if (next !== "" && ESCAPED.includes(next)) return [next, 2];
  const short = SHORT[next];
  return short === undefined ? undefined : [short, 2];
};

const withoutJson = (text: string): Spelling => {
  let plain = "";
  const at: number[] = [];
  for (let from = 0; from < text.length; ) {
    const escaped = text[from] === "\\" ? readEscape(text, from) : undefined;
    const [unit, length] = escaped ?? [text[from] ?? "", 1];
    plain += unit;
    at.push(from);
    from += length;
  }
  at.push(text.length);
  return { text: plain, at, isBytes: false };
};

const withoutPercent = (text: string): Spelling => {
  let bytes = "";
  const at: number[] = [];
  for (let from = 0; from < text.length; ) {
    const digits = text[from] === "%" ? text.slice(from + 1, from + 3) : "";
    const unit = text[from] ?? "";
    const [said, length] = HEX_2.test(digits) ? [String.fromCharCode(Number.parseInt(digits, 16)), 3] : [unit, 1];
    const units = length === 1 && unit > "\x7f" ? bytesOf(unit) : said;
    for (let i = 0; i < units.length; i += 1) at.push(from);
    bytes += units;
    from += length;
  }
  at.push(text.length);
  return { text: bytes, at, isBytes: true };
};

/** A text as the bytes of its UTF-8, one unit each. */
export const bytesOf = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

const within = (outer: Spelling, inner: Spelling): Spelling => ({
  ...inner,
  at: inner.at.map((position) => outer.at[position] ?? 0),
});

/** The text itself, and every way to resolve what is escaped in it: JSON, a JSON text in a JSON text, percent-encoding. */
export const spellingsOf = (text: string): readonly Spelling[] => {
  const spellings: Spelling[] = [];
  if (text.includes("\\")) {
    const once = withoutJson(text);
    spellings.push(once);
    if (once.text.includes("\\")) spellings.push(within(once, withoutJson(once.text)));
  }
  if (text.includes("%")) {
    const once = withoutPercent(text);
    spellings.push(once);
    if (once.text.includes("%")) spellings.push(within(once, withoutPercent(once.text)));
  }
  return spellings;
};

/** Where an escape begins that the end of the text cuts off; the text's length when none does. */
export const cutEscape = (text: string): number => {
  const found = /(?:\\+u?[0-9a-f]{0,3}|%(?:25)*[0-9a-f]?)$/iu.exec(text.slice(-TAIL));
  return found === null ? text.length : text.length - found[0].length;
};

/** Longer than an escape in an escape. */
const TAIL = 16;
