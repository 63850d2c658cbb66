// A key that does not exist is refused by name when the program starts: an option that is silently left out looks as if it worked. Types
// say the same, but a program that runs by type stripping may never have been checked.

import { nearest, UsageError } from "@toolplane/protocol";

/** `timeout_seconds` and `timeoutSeconds` are one word. */
const plain = (word: string): string => word.replaceAll("_", "").toLowerCase();

/** Shorter words begin too many others. */
const LEAST_BEGINNING = 4;

const meantBy = (word: string, known: readonly string[]): string | undefined =>
  known.find((key) => plain(key) === plain(word)) ??
  nearest(word, known) ??
  (word.length < LEAST_BEGINNING ? undefined : known.find((key) => plain(key).startsWith(plain(word))));

export interface KnownKeys {
  /** Who takes the keys, for the sentence: `defineTool count_words`. */
  readonly taker: string;
  readonly keys: readonly string[];
  /** Keys of the object under `options`, for a reader who wrote one of them in the wrong place. */
  readonly options?: readonly string[] | undefined;
}

export const refuseUnknownKeys = (given: object, { taker, keys, options = [] }: KnownKeys): void => {
  const unknown = Object.entries(given).find(([key, value]) => value !== undefined && !keys.includes(key))?.[0];
  if (unknown === undefined) return;
  const isKey = keys.some((key) => plain(key) === plain(unknown));
  const option = isKey ? undefined : options.find((key) => plain(key) === plain(unknown));
  const meant = option === undefined ? meantBy(unknown, keys) : undefined;
  const question = meant === undefined ? `; the keys are ${keys.join(", ")}` : `; did you mean ${meant}?`;
  throw new UsageError(
    `${taker}: there is no key ${unknown.slice(0, 64)}${option === undefined ? question : `; write it as options: { ${option}: ... }`}`,
  );
};
