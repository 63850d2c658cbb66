// Where the known secrets are in a text.

import type { SecretForm } from "./secret-forms.ts";

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

const spansOf = (text: string, form: SecretForm): Span[] => {
  const spans: Span[] = [];
  for (let at = text.indexOf(form.text); at >= 0; at = text.indexOf(form.text, at + 1)) {
    const end = at + form.text.length;
    if (!form.wholeWord || standsAlone(text, at, end)) spans.push({ start: at, end, name: form.name });
  }
  return spans;
};

/** Overlapping finds become one, so that no half of a secret is left beside another's replacement. */
export const findSecrets = (text: string, forms: readonly SecretForm[]): readonly Span[] => {
  let found: Span[] | undefined;
  for (const form of forms) {
    if (form.text.length > text.length || !text.includes(form.text)) continue;
    found = [...(found ?? []), ...spansOf(text, form)];
  }
  if (found === undefined) return [];
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Span[] = [];
  for (const span of found) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push(span);
    else if (span.end > last.end) merged[merged.length - 1] = { ...last, end: span.end };
  }
  return merged;
};

/** Length of the longest end of the text that could be the beginning of a secret; 0 when none could. */
export const openEnd = (text: string, forms: readonly SecretForm[]): number => {
  let longest = 0;
  for (const { text: form } of forms) {
    const most = Math.min(form.length - 1, text.length);
    for (let length = most; length > longest; length -= 1) {
      if (text.endsWith(form.slice(0, length))) longest = length;
    }
  }
  return longest;
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
