// Integers that a JavaScript number does not keep: 9007199254740993 is read as 9007199254740992 and written back so. An id that is
// changed silently names another thing. Numbers with a fraction or an exponent are measurements and are not judged.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { formatJsonPath, type JsonPathSegment } from "./json-path.ts";
import { endOfText } from "./json-work.ts";

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Every integer of fewer digits is kept, so a text without such a run needs no second look. */
const MAY_BE_CHANGED = /\d{16}/;

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The digits of a number as JavaScript writes it, without an exponent: 1.5e+21 has 22 of them. */
const digitsOf = (written: string): string => {
  const [mantissa = "", exponent] = written.split("e+");
  if (exponent === undefined) return written;
  const [whole = "", fraction = ""] = mantissa.split(".");
  return whole + fraction.padEnd(Number(exponent), "0");
};

const isKept = (token: string): boolean => !/^-?\d{16,}$/.test(token) || digitsOf(String(Number(token))) === token;

interface Open {
  /** Undefined in an object whose next text is a name. */
  segment: JsonPathSegment | undefined;
  readonly isList: boolean;
}

/** Where valid JSON has the first integer that is not kept; undefined when all are. */
export const findChangedInteger = (text: string): string | undefined => {
  if (!MAY_BE_CHANGED.test(text)) return undefined;
  const open: Open[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const inside = open.at(-1);
    if (code === QUOTE) {
      const end = endOfText(text, at + 1);
      if (inside !== undefined && inside.segment === undefined)
        inside.segment = JSON.parse(text.slice(at, end + 1)) as string;
      at = end;
    } else if (code === OPEN_LIST) open.push({ segment: 0, isList: true });
    else if (code === OPEN_OBJECT) open.push({ segment: undefined, isList: false });
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) open.pop();
    else if (code === COMMA && inside !== undefined)
      inside.segment = inside.isList ? Number(inside.segment) + 1 : undefined;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const token = NUMBER.exec(text)?.[0] ?? "";
      if (!isKept(token)) return formatJsonPath(open.map(({ segment }) => segment ?? ""));
      at += Math.max(token.length - 1, 0);
    }
  }
  return undefined;
};

/** Refuses valid JSON with such an integer. */
export const refuseChangedIntegers = (text: string): void => {
  const path = findChangedInteger(text);
  if (path === undefined) return;
  const reason = "an integer that a double does not keep";
  throw new ToolplaneError("bad_request", `the JSON has ${reason} at ${path}: send it as text`, {
    detail: { path, reason },
  });
};
