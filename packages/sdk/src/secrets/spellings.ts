// A text as its reader would understand it: with the escapes of JSON (`\/`, `\u002F`, `\"`), of URLs (`%2f`) or of HTML (`&#47;`) resolved. A secret can
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

/** Names of characters that keys have; any other may be written as a number. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  sol: "/",
  bsol: "\\",
  plus: "+",
  equals: "=",
  lowbar: "_",
  period: ".",
  colon: ":",
  comma: ",",
  semi: ";",
  commat: "@",
  num: "#",
  excl: "!",
  dollar: "$",
  percnt: "%",
  ast: "*",
  quest: "?",
  vert: "|",
  lpar: "(",
  rpar: ")",
  lsqb: "[",
  rsqb: "]",
  lcub: "{",
  rcub: "}",
};
const LAST_CODE = 0x10ffff;
/** `&lowbar;` and `&#x10FFFF;` are the longest. */
const LONGEST_ENTITY = 10;

const characterOf = (entity: string): string | undefined => {
  if (!entity.startsWith("#")) return Object.hasOwn(ENTITIES, entity) ? ENTITIES[entity] : undefined;
  const isHex = entity[1] === "x" || entity[1] === "X";
  const digits = entity.slice(isHex ? 2 : 1);
  const code = (isHex ? /^[0-9a-f]{1,6}$/iu : /^\d{1,7}$/u).test(digits)
    ? Number.parseInt(digits, isHex ? 16 : 10)
    : -1;
  return code >= 0 && code <= LAST_CODE ? String.fromCodePoint(code) : undefined;
};

/** What stands for something else in a text: where, how long, and what it stands for. */
type Find = readonly [start: number, length: number, said: string];

const entitiesIn = (text: string): readonly Find[] => {
  const finds: Find[] = [];
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) {
    const head = text.slice(at + 1, at + LONGEST_ENTITY);
    const end = head.indexOf(";");
    const said = end < 0 ? undefined : characterOf(head.slice(0, end));
    if (said !== undefined) finds.push([at, end + 2, said]);
  }
  return finds;
};

const zerosIn = (text: string): readonly Find[] => {
  const finds: Find[] = [];
  for (let at = text.indexOf("\0"); at >= 0; at = text.indexOf("\0", at + 1)) finds.push([at, 1, ""]);
  return finds;
};

/** The text alone, which is much quicker: most pages have entities, and next to none has a secret in them. */
const plainText = (text: string, finds: readonly Find[]): string => {
  const pieces: string[] = [];
  let from = 0;
  for (const [start, length, said] of finds) {
    pieces.push(text.slice(from, start), said);
    from = start + length;
  }
  return pieces.join("") + text.slice(from);
};

const replaced = (text: string, finds: readonly Find[]): Spelling => {
  let plain = "";
  const at: number[] = [];
  const copy = (from: number, to: number): void => {
    plain += text.slice(from, to);
    for (let i = from; i < to; i += 1) at.push(i);
  };
  let from = 0;
  for (const [start, length, said] of finds) {
    copy(from, start);
    plain += said;
    for (let i = 0; i < said.length; i += 1) at.push(start);
    from = start + length;
  }
  copy(from, text.length);
  at.push(text.length);
  return { text: plain, at, isBytes: false };
};

/** A text as the bytes of its UTF-8, one unit each. */
export const bytesOf = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

const within = (outer: Spelling, inner: Spelling): Spelling => ({
  ...inner,
  at: inner.at.map((position) => outer.at[position] ?? 0),
});

/** Every way to resolve what is escaped in a text: JSON, a JSON text in a JSON text, percent-encoding, HTML, UTF-16.
 * `isWorth`: whether the resolved text of the last two is wanted at all. */
export const spellingsOf = (text: string, isWorth: (plain: string) => boolean = () => true): readonly Spelling[] => {
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
  // HTML, and UTF-16 that was read as if it were bytes.
  for (const finds of [entitiesIn(text), zerosIn(text)])
    if (finds.length > 0 && isWorth(plainText(text, finds))) spellings.push(replaced(text, finds));
  return spellings;
};

/** Where an escape begins that the end of the text cuts off; the text's length when none does. */
export const cutEscape = (text: string): number => {
  const found = /(?:\\+u?[0-9a-f]{0,3}|%(?:25)*[0-9a-f]?|&#?[0-9a-z]{0,7})$/iu.exec(text.slice(-TAIL));
  return found === null ? text.length : text.length - found[0].length;
};

/** Longer than an escape in an escape. */
const TAIL = 16;
