// Header maps: from a transport's headers to plain text by name.
// Blank names and null values are dropped, scalars become text. A name or value that not every transport carries unchanged (CR,
// LF, control characters, anything beyond ASCII) is refused and not cleaned, because a cleaned value would be another identity.

import { violation } from "../errors/toolplane-error.ts";
import { isForeignSpelling, isProtocolHeader } from "./header-names.ts";

export type HeaderMap = Readonly<Record<string, string>>;

/** Headers as a transport gives them: values not yet text, perhaps null. */
export type RawHeaders = Readonly<Record<string, unknown>> | null | undefined;

/**
 * Headers are stored with every inbox row and sent with every message; without bounds one peer could fill both. The protocol's
 * own headers do not count: the plane adds them on the way, and a message that was accepted once must be accepted again when it
 * is replayed.
 */
const MAX_OTHER_HEADERS = 128;
const MAX_OTHER_CHARACTERS = 64 * 1024;
export const MAX_HEADER_LENGTH = 8192;

const TAB = 0x09;

/** Printable ASCII, blanks and tabs: what every transport carries unchanged. */
export const isHeaderText = (text: string): boolean => {
  if (text.length > MAX_HEADER_LENGTH) return false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if ((code < 0x20 && code !== TAB) || code > 0x7e) return false;
  }
  return true;
};

/** 1 for the characters RFC 9110 allows in a field name. */
const NAME_CODES: Uint8Array = (() => {
  const table = new Uint8Array(128);
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (const char of `${letters}!#$%&'*+-.^_\`|~`) table[char.charCodeAt(0)] = 1;
  return table;
})();

const isHeaderName = (name: string): boolean => {
  if (name.length > MAX_HEADER_LENGTH) return false;
  for (let i = 0; i < name.length; i += 1) {
    const code = name.charCodeAt(i);
    if (code > 127 || NAME_CODES[code] !== 1) return false;
  }
  return name !== "";
};

const headerValue = (name: string, value: unknown): string => {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    default:
      // An array is a header that was sent twice: it is unclear which one is meant.
      throw violation(`header ${name} has no single text value`);
  }
};

/** A fresh map that the caller owns. */
export const normalizeHeaders = (raw: RawHeaders): Record<string, string> => {
  const headers: Record<string, string> = {};
  if (raw === null || raw === undefined) return headers;
  if (typeof raw !== "object" || Array.isArray(raw)) throw violation("headers are not a map of names to values");
  let count = 0;
  let characters = 0;
  for (const name of Object.keys(raw)) {
    const value = raw[name];
    if (value === null || value === undefined || name.trim() === "") continue;
    if (!isHeaderName(name)) throw violation("a header name has a character that is not allowed in one");
    if (isForeignSpelling(name)) continue;
    const text = headerValue(name, value);
    if (!isHeaderText(text)) throw violation(`header ${name} is not printable ASCII, or too long`);
    if (!isProtocolHeader(name)) {
      count += 1;
      characters += name.length + text.length;
    }
    if (count > MAX_OTHER_HEADERS) throw violation(`more than ${MAX_OTHER_HEADERS} headers beside the protocol's own`);
    if (characters > MAX_OTHER_CHARACTERS) throw violation(`more than ${MAX_OTHER_CHARACTERS} characters of headers`);
    // A `__proto__` header disappears here: only an object or null can become a prototype, and this is text.
    headers[name] = text;
  }
  return headers;
};
