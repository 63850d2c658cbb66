// One layer deeper: what a run of base64 or of hex in a text stands for. A secret may have been encoded twice, or encoded together with
// what stood around it, or as UTF-16.

import type { SecretForm } from "./secret-forms.ts";

/** [start, end) */
interface Run {
  readonly start: number;
  readonly end: number;
}

/** The whole run is replaced, because a part of it may not decode. */
export interface RunFind extends Run {
  readonly name: string;
}

/** Of ASCII: 1 for the characters of base64, in both alphabets. */
const OF_BASE64 = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9+/_-]/u.test(String.fromCharCode(code)) ? 1 : 0,
);
const HEX = /^[0-9A-Fa-f]+$/u;

const isOfBase64 = (text: string, at: number): boolean => OF_BASE64[text.charCodeAt(at)] === 1;

/** Looks at every `least`th character only: a run that is long enough has one of them. */
const runsIn = (text: string, least: number): readonly Run[] => {
  const runs: Run[] = [];
  let after = 0;
  for (let at = least - 1; at < text.length; at += least) {
    if (!isOfBase64(text, at)) continue;
    let start = at;
    let end = at;
    while (start > after && isOfBase64(text, start - 1)) start -= 1;
    while (end < text.length && isOfBase64(text, end)) end += 1;
    after = end;
    if (end - start >= least) runs.push({ start, end });
    at = end - 1;
  }
  return runs;
};

/** Decoded together, which is much quicker than one by one; each is filled up so that the next one begins a new group. */
const decode = (runs: readonly string[], coding: "base64" | "hex"): string => {
  const group = coding === "base64" ? 4 : 2;
  const filled = runs.map((run) => run.padEnd(Math.ceil(run.length / group) * group, coding === "base64" ? "A" : "0"));
  const bytes = Buffer.from(filled.join(""), coding).toString("latin1");
  // UTF-16 has a zero beside every letter.
  return bytes.includes("\0") ? `${bytes}\n${bytes.replaceAll("\0", "")}` : bytes;
};

/** Shorter runs cannot hold any of the forms. */
const leastLength = (forms: readonly SecretForm[]): number =>
  Math.ceil((Math.min(...forms.map(({ bytes }) => bytes.length)) * 4) / 3);

const findForm = (decoded: string, forms: readonly SecretForm[]): SecretForm | undefined =>
  forms.find(
    // Without its zeros, UTF-16 is the text itself.
    ({ bytes, text }) => decoded.includes(bytes) || (text !== bytes && decoded.includes(text)),
  );

export const findInRuns = (text: string, all: readonly SecretForm[]): readonly RunFind[] => {
  const forms = all.filter(({ wholeWord }) => !wholeWord);
  if (forms.length === 0) return [];
  const runs = runsIn(text, leastLength(forms));
  if (runs.length === 0) return [];
  const formIn = (some: readonly Run[]): SecretForm | undefined => {
    const texts = some.map(({ start, end }) => text.slice(start, end));
    const inHex = texts.filter((run) => HEX.test(run));
    return (
      findForm(decode(texts, "base64"), forms) ??
      (inHex.length === 0 ? undefined : findForm(decode(inHex, "hex"), forms))
    );
  };
  if (formIn(runs) === undefined) return [];
  return runs.flatMap((run) => {
    const form = formIn([run]);
    if (form === undefined) return [];
    const padding = /^={0,2}/u.exec(text.slice(run.end, run.end + 2))?.[0].length ?? 0;
    return [{ start: run.start, end: run.end + padding, name: form.name }];
  });
};
