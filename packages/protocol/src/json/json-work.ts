// What reading a JSON text will cost, found by one pass over it and without building anything. Bytes say little: 16 MB of
// one text take 50 ms, 12 MB of different member names take seconds. Two things are counted:
//   W1. Values: every item, member, array and object.
//   W2. Shapes: members that are new after the members before them in their object. A thousand rows with the same columns
//       have as many as one row; names that differ each time (a map of ids, or objects that are all different) are what
//       makes a JavaScript engine slow.
// The text need not be JSON; whether it is, JSON.parse says afterwards.

/** A card has at most 1 MiB; the densest one that somebody would write on purpose stays below this. */
export const MAX_JSON_VALUES = 250_000;
/** Some 100 ms for everything that happens to a card, from reading it to its hash. */
export const MAX_JSON_SHAPES = 20_000;

/** Texts below this cost less than counting saves: at most some 10 ms, whatever they hold. */
const SURELY_CHEAP = 32 * 1024;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** The members that were seen to follow each other; exact, so that nobody can hide names behind a hash. */
interface Shape {
  next: Map<string, Shape> | undefined;
}

/** The place of the quote that ends the text beginning at `from`, or the end of everything. */
const endOfText = (text: string, from: number): number => {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (before >= from && text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
};

export type JsonExcess = "values" | "shapes";

/** What the text has too much of; undefined when it may be read. */
export const findJsonExcess = (text: string): JsonExcess | undefined => {
  if (text.length < SURELY_CHEAP) return undefined;
  const root: Shape = { next: undefined };
  // Undefined stands for a list: what is inside has no names.
  const open: (Shape | undefined)[] = [];
  let current: Shape | undefined;
  let values = 0;
  let shapes = 0;
  let namesNext = false;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE: {
        const end = endOfText(text, i + 1);
        if (namesNext && current !== undefined) {
          const name = text.slice(i + 1, end);
          current.next ??= new Map();
          let next = current.next.get(name);
          if (next === undefined) {
            if (++shapes > MAX_JSON_SHAPES) return "shapes";
            next = { next: undefined };
            current.next.set(name, next);
          }
          current = next;
          namesNext = false;
        }
        i = end;
        break;
      }
      case COMMA:
        namesNext = current !== undefined;
        if (++values > MAX_JSON_VALUES) return "values";
        break;
      case COLON:
        namesNext = false;
        break;
      case OPEN_OBJECT:
        open.push(current);
        current = root;
        namesNext = true;
        if (++values > MAX_JSON_VALUES) return "values";
        break;
      case OPEN_LIST:
        open.push(current);
        current = undefined;
        namesNext = false;
        if (++values > MAX_JSON_VALUES) return "values";
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        current = open.pop();
        namesNext = false;
        break;
      default:
        break;
    }
  }
  return undefined;
};

const SPACE = 32;

/** How many colons follow a quote: as many as members, and more only where a text has `":` in it or begins with a colon. */
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
 * Whether some object of this valid JSON was given a name twice, told by how many members were read. Nearly all texts are
 * told by looking at their colons alone; the others are read once more.
 */
export const namesTwice = (text: string, membersRead: number): boolean =>
  countColons(text) !== membersRead && countMembers(text) !== membersRead;
