// What reading a JSON text will cost, found in one pass without building anything. The number of bytes says little: 16 MB of one
// text take 50 ms, 12 MB of different member names take seconds. Two things are counted:
//   JW1. Values: every item, member, array and object.
//   JW2. Shapes: members whose name is new at their place in an object. A thousand rows with the same columns count as one row;
//       names that differ each time (a map of ids, or objects that all differ) make a JavaScript engine slow.
// The text need not be JSON; JSON.parse checks that afterwards.

/** A card has at most 1 MiB; the densest real one stays below this. */
export const MAX_JSON_VALUES = 250_000;
/** About 100 ms for all work on a card, from reading it to its hash. */
export const MAX_JSON_SHAPES = 10_000;

/** Shorter texts are not counted: reading them takes at most some 10 ms, whatever they hold. */
const SURELY_CHEAP = 32 * 1024;

const BLANK = 32;
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const NINE = 57;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** The member names that were seen to follow each other; exact, so that no sender can hide names behind a hash collision. */
interface Shape {
  next: Map<string, Shape> | undefined;
}

/** The place of the quote that ends the text beginning at `from`, or the end of everything. */
export const endOfText = (text: string, from: number): number => {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (before >= from && text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
};

/** The place after blanks and numbers, which are most of what is outside of texts. */
const afterPlain = (text: string, from: number, stop: number): number => {
  let i = from;
  for (; i < stop; i++) {
    const code = text.charCodeAt(i);
    if (code > NINE || (code > BLANK && code < MINUS)) break;
  }
  return i;
};

export type JsonExcess = "values" | "shapes";

/** Counts a text in steps, so that other work can run in between. */
export interface JsonScale {
  /** Looks at about so many characters more; false when it can stop: the text is done, or a limit was exceeded. */
  goOn(characters: number): boolean;
  /** What the text has too much of, as far as it was looked at. */
  readonly excess: JsonExcess | undefined;
}

class Scale implements JsonScale {
  excess: JsonExcess | undefined;
  readonly #text: string;
  readonly #root: Shape = { next: undefined };
  // Undefined stands for a list: what is inside has no names.
  readonly #open: (Shape | undefined)[] = [];
  #current: Shape | undefined;
  #namesNext = false;
  #values = 0;
  #shapes = 0;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  goOn(characters: number): boolean {
    const text = this.#text;
    const stop = Math.min(text.length, this.#at + characters);
    let i = this.#at;
    for (; i < stop && this.excess === undefined; i++) {
      i = afterPlain(text, i, stop);
      switch (text.charCodeAt(i)) {
        case QUOTE: {
          const end = endOfText(text, i + 1);
          if (this.#namesNext) this.#name(text.slice(i + 1, end));
          i = end;
          break;
        }
        case COMMA:
          this.#namesNext = this.#current !== undefined;
          this.#value();
          break;
        case COLON:
          this.#namesNext = false;
          break;
        case OPEN_OBJECT:
          this.#enter(this.#root);
          break;
        case OPEN_LIST:
          this.#enter(undefined);
          break;
        case CLOSE_OBJECT:
        case CLOSE_LIST:
          this.#current = this.#open.pop();
          this.#namesNext = false;
          break;
        default:
          break;
      }
    }
    this.#at = i;
    return this.excess === undefined && i < text.length;
  }

  #value(): void {
    this.#values++;
    if (this.#values > MAX_JSON_VALUES) this.excess = "values";
  }

  #enter(inside: Shape | undefined): void {
    this.#open.push(this.#current);
    this.#current = inside;
    this.#namesNext = inside !== undefined;
    this.#value();
  }

  #name(name: string): void {
    this.#namesNext = false;
    const { next = new Map<string, Shape>() } = this.#current ?? {};
    let shape = next.get(name);
    if (shape === undefined) {
      this.#shapes++;
      if (this.#shapes > MAX_JSON_SHAPES) this.excess = "shapes";
      shape = { next: undefined };
      next.set(name, shape);
      if (this.#current !== undefined) this.#current.next = next;
    }
    this.#current = shape;
  }
}

/** Undefined for a text that need not be weighed. */
export const weighJson = (text: string): JsonScale | undefined =>
  text.length < SURELY_CHEAP ? undefined : new Scale(text);

const SPACE = 32;

/** How many colons follow a quote: at least the number of members; more only where a text contains `":` or begins with a colon. */
const countColons = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    let before = at - 1;
    while (before >= 0 && text.charCodeAt(before) <= SPACE) before--;
    if (text.charCodeAt(before) === QUOTE) count++;
  }
  return count;
};

/** How many members the text of valid JSON gives its objects; a name that is given twice counts twice. */
const countMembers = (text: string): number => {
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfText(text, i + 1);
    else if (c === COLON) members++;
  }
  return members;
};

/**
 * Whether an object of this valid JSON names a member twice, decided by the number of members that were read. For nearly all
 * texts counting colons decides; the others are read once more.
 */
export const namesTwice = (text: string, membersRead: number): boolean =>
  countColons(text) !== membersRead && countMembers(text) !== membersRead;
