// The parts of a JSON text, as texts: the items of a list, the members of an object. A part that cannot be read does not concern the
// others then. The parts themselves need not be JSON; their reader checks that. A text whose parts cannot be told apart has none, and one
// with more parts than its reader would take is not cut up.

import { endOfText } from "./json-work.ts";

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

const isBlank = (code: number): boolean => code === SPACE || code === 10 || code === 13 || code === 9;

const afterBlanks = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
};

/** The place of the comma or the bracket after the value that begins at `from`; the end of the text when there is none. */
const endOfValue = (text: string, from: number): number => {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at + 1);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth++;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (depth === 0) return at;
        depth--;
        break;
      case COMMA:
        if (depth === 0) return at;
        break;
      default:
        break;
    }
  }
  return text.length;
};

/** Reads part by part; `read` gives the place after the part that begins at `at`, or undefined when none does. */
const readParts = (text: string, open: number, close: number, read: (at: number) => number | undefined): boolean => {
  let at = afterBlanks(text, 0);
  if (text.charCodeAt(at) !== open) return false;
  at = afterBlanks(text, at + 1);
  if (text.charCodeAt(at) === close) return afterBlanks(text, at + 1) === text.length;
  for (;;) {
    const end = read(at);
    if (end === undefined) return false;
    const ending = text.charCodeAt(end);
    if (ending === close) return afterBlanks(text, end + 1) === text.length;
    if (ending !== COMMA) return false;
    at = afterBlanks(text, end + 1);
  }
};

const partOf = (text: string, from: number, end: number): string | undefined => {
  let last = end;
  while (last > from && isBlank(text.charCodeAt(last - 1))) last--;
  return last === from ? undefined : text.slice(from, last);
};

/** The items of a list; undefined when the text is no list, or has more than `most`. */
export const sliceList = (text: string, most: number): readonly string[] | undefined => {
  const items: string[] = [];
  const isList = readParts(text, OPEN_LIST, CLOSE_LIST, (at) => {
    const end = endOfValue(text, at);
    const part = partOf(text, at, end);
    if (part === undefined || items.length === most) return undefined;
    items.push(part);
    return end;
  });
  return isList ? items : undefined;
};

interface MemberSlice {
  /** With its quotes, as it was written. */
  readonly name: string;
  readonly value: string;
}

/** The members of an object, in their order; undefined when the text is no object, or has more than `most`. */
export const sliceObject = (text: string, most: number): readonly MemberSlice[] | undefined => {
  const members: MemberSlice[] = [];
  const isObject = readParts(text, OPEN_OBJECT, CLOSE_OBJECT, (at) => {
    if (text.charCodeAt(at) !== QUOTE) return undefined;
    const endOfName = endOfText(text, at + 1) + 1;
    const colon = afterBlanks(text, endOfName);
    if (text.charCodeAt(colon) !== COLON) return undefined;
    const from = afterBlanks(text, colon + 1);
    const end = endOfValue(text, from);
    const value = partOf(text, from, end);
    if (value === undefined || members.length === most) return undefined;
    members.push({ name: text.slice(at, endOfName), value });
    return end;
  });
  return isObject ? members : undefined;
};
