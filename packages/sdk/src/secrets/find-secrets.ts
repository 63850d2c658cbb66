// Where the known secrets are in a text.

import { findInRuns } from "./encoded-runs.ts";
import type { SecretForm } from "./secret-forms.ts";
import { cutEscape, spellingsOf } from "./spellings.ts";

/** [start, end) */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

const isWordCode = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code > 127;

const standsAlone = (text: string, start: number, end: number): boolean =>
  !(start > 0 && isWordCode(text.charCodeAt(start - 1))) && !(end < text.length && isWordCode(text.charCodeAt(end)));

const spansOf = (text: string, needle: string, { name, wholeWord }: SecretForm): Span[] => {
  const spans: Span[] = [];
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    const end = at + needle.length;
    if (!wholeWord || standsAlone(text, at, end)) spans.push({ start: at, end, name });
  }
  return spans;
};

const findIn = (text: string, forms: readonly SecretForm[], isBytes: boolean): Span[] =>
  forms.flatMap((form) => {
    const needle = isBytes ? form.bytes : form.text;
    return needle.length > text.length || !text.includes(needle) ? [] : spansOf(text, needle, form);
  });

/** In the text as it stands, in what its escapes stand for, and in what its runs of base64 and hex stand for. */
const findAll = (text: string, forms: readonly SecretForm[]): Span[] => [
  ...findIn(text, forms, false),
  ...spellingsOf(text, (plain) => forms.some((form) => plain.includes(form.text))).flatMap((spelling) =>
    findIn(spelling.text, forms, spelling.isBytes).map(({ start, end, name }) => ({
      start: spelling.at[start] ?? 0,
      end: spelling.at[end] ?? text.length,
      name,
    })),
  ),
  ...findInRuns(text, forms),
];

/** Overlapping finds become one, so that no half of a secret is left beside another's replacement. */
export const findSecrets = (text: string, forms: readonly SecretForm[]): readonly Span[] => {
  const found = findAll(text, forms);
  if (found.length === 0) return found;
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Span[] = [];
  for (const span of found) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push(span);
    else if (span.end > last.end) merged[merged.length - 1] = { ...last, end: span.end };
  }
  return merged;
};

/** Units at the end of the text that could begin one of the needles. */
const openUnits = (text: string, needles: readonly string[]): number => {
  let longest = 0;
  for (const needle of needles) {
    const most = Math.min(needle.length - 1, text.length);
    for (let length = most; length > longest; length -= 1) {
      if (text.endsWith(needle.slice(0, length))) longest = length;
    }
  }
  return longest;
};

/** Length of the longest end of the text that could be the beginning of a secret, however it is escaped; 0 when none could. */
export const openEnd = (text: string, forms: readonly SecretForm[]): number => {
  if (forms.length === 0) return 0;
  // An escape that is cut off may stand for any unit, also for the next one of a secret that has begun.
  const cut = cutEscape(text);
  const head = text.slice(0, cut);
  const texts = forms.map((form) => form.text);
  let open = openUnits(head, texts);
  for (const spelling of spellingsOf(head)) {
    const units = openUnits(spelling.text, spelling.isBytes ? forms.map(({ bytes }) => bytes) : texts);
    if (units > 0) open = Math.max(open, head.length - (spelling.at[spelling.text.length - units] ?? 0));
  }
  return Math.max(open + text.length - cut, openUnits(text, texts));
};

export const replacement = (name: string): string => `[redacted ${name}]`;

export const redact = (text: string, forms: readonly SecretForm[]): string => {
  const spans = findSecrets(text, forms);
  if (spans.length === 0) return text;
  let clean = "";
  let from = 0;
  for (const { start, end, name } of spans) {
    clean += text.slice(from, start) + replacement(name);
    from = end;
  }
  return clean + text.slice(from);
};
