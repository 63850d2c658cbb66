// Scrubs the parts of one call, also where a secret is cut in two between parts. Texts at the same place of successive parts are
// read as one stream; a part that ends with the possible beginning of a secret waits for the next one.
//   PS1. Parts are sent in the order they came.
//   PS2. At most MAX_HELD parts wait; then the doubtful end is replaced as if it were a secret, and all of them are sent.

import { isRecord, type JsonValue } from "@toolplane/protocol";
import { findSecrets, openEnd, replacement, type Span } from "./find-secrets.ts";
import type { Scrubber } from "./scrubber.ts";

export interface PartScrubber {
  push(part: JsonValue): void;
  /** No more parts come: waiting parts are sent. */
  flush(): void;
}

/** Enough to join a stream of single characters over the length of a usual key. */
const MAX_HELD = 256;

interface Held {
  readonly part: JsonValue;
  /** Place in the part -> its text. */
  readonly texts: Map<string, string>;
}

const collectTexts = (value: JsonValue, place: string, into: Map<string, string>): void => {
  if (typeof value === "string") into.set(place, value);
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) collectTexts(item, `${place}/${index}`, into);
  else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value))
      collectTexts(item as JsonValue, `${place}/${JSON.stringify(key)}`, into);
  }
};

const withTexts = (value: JsonValue, place: string, texts: ReadonlyMap<string, string>): JsonValue => {
  if (typeof value === "string") return texts.get(place) ?? value;
  if (Array.isArray(value)) return value.map((item, index) => withTexts(item, `${place}/${index}`, texts));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      withTexts(item as JsonValue, `${place}/${JSON.stringify(key)}`, texts),
    ]),
  );
};

/** Writes the spans of the joined text back into the pieces it was joined from. */
const applySpans = (held: readonly Held[], place: string, spans: readonly Span[]): void => {
  let offset = 0;
  for (const { texts } of held) {
    const text = texts.get(place);
    if (text === undefined) continue;
    let clean = "";
    let from = 0;
    for (const { start, end, name } of spans) {
      if (end <= offset || start >= offset + text.length) continue;
      clean += text.slice(from, Math.max(start - offset, 0));
      // The replacement stands where the secret began; the rest of the secret is removed.
      if (start >= offset) clean += replacement(name);
      from = Math.min(end - offset, text.length);
    }
    texts.set(place, clean + text.slice(from));
    offset += text.length;
  }
};

/** Index of the piece that holds the character at `position` of the joined text. */
const pieceAt = (held: readonly Held[], place: string, position: number): number => {
  let offset = 0;
  for (const [index, { texts }] of held.entries()) {
    offset += texts.get(place)?.length ?? 0;
    if (position < offset) return index;
  }
  return held.length;
};

export const createPartScrubber = (scrubber: Scrubber, release: (part: JsonValue) => void): PartScrubber => {
  const { forms } = scrubber;
  const held: Held[] = [];

  const places = (): Set<string> => new Set(held.flatMap(({ texts }) => [...texts.keys()]));
  const joined = (place: string): string => held.map(({ texts }) => texts.get(place) ?? "").join("");

  const letGo = (count: number): void => {
    for (const { part, texts } of held.splice(0, count)) release(scrubber.value(withTexts(part, "", texts)));
  };

  /** Redacts what is certain at one place; returns the first piece that must wait for more. */
  const settle = (place: string, final: boolean): number => {
    const text = joined(place);
    const spans = findSecrets(text, forms);
    const open = final ? 0 : openEnd(text, forms);
    const openStart = text.length - open;
    const certain = spans.filter(({ end }) => end <= openStart);
    const waiting = spans.find(({ end }) => end > openStart);
    applySpans(held, place, certain);
    if (open === 0) return held.length;
    // Replacing moved the positions, so count from the end, which did not move.
    const waitFrom = text.length - Math.min(openStart, waiting?.start ?? openStart);
    return pieceAt(held, place, joined(place).length - waitFrom);
  };

  const flush = (): void => {
    for (const place of places()) settle(place, true);
    letGo(held.length);
  };

  const giveUpWaiting = (): void => {
    for (const place of places()) {
      settle(place, true);
      const text = joined(place);
      const open = openEnd(text, forms);
      if (open > 0) applySpans(held, place, [{ start: text.length - open, end: text.length, name: "secret" }]);
    }
    letGo(held.length);
  };

  return {
    flush,
    push(part) {
      if (forms.length === 0) return release(part);
      const texts = new Map<string, string>();
      collectTexts(part, "", texts);
      held.push({ part, texts });
      if (held.length > MAX_HELD) return giveUpWaiting();
      letGo(Math.min(...[...places()].map((place) => settle(place, false)), held.length));
    },
  };
};
