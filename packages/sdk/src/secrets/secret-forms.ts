// The forms in which a secret may appear in a text: as it is, in base64 or hex. All forms are computed from the value. A pattern for
// "things that look like keys" would miss unusual ones. How a form may be escaped is the matter of spellings.ts.

import { bytesOf } from "./spellings.ts";

/** Shorter values also occur inside ordinary words, so they are matched only where they stand alone. */
const WHOLE_WORD_BELOW = 5;
/** One line of a multi-line key is secret too; shorter lines may be ordinary words. */
const MIN_LINE = 16;
/** A piece of base64 this short would match by accident. */
const MIN_BASE64_CORE = 8;

export interface SecretForm {
  readonly text: string;
  /** The same as bytes of UTF-8, one unit each, for texts that were percent-encoded. */
  readonly bytes: string;
  readonly name: string;
  readonly wholeWord: boolean;
}

/**
 * The secret may stand inside a longer text that was encoded as a whole (`user:secret`), at any of three positions relative to
 * the groups of three bytes. For each position: the characters that depend on the secret alone.
 */
const base64Cores = (value: string): string[] => {
  const bytes = Buffer.from(value, "utf8");
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replaceAll("=", "");
    const start = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    return encoded.slice(start, end);
  });
};

const urlAlphabet = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_");

const base64Forms = (value: string): string[] => {
  const plain = Buffer.from(value, "utf8").toString("base64");
  const cores = base64Cores(value).filter((core) => core.length >= MIN_BASE64_CORE);
  return [plain, ...cores].flatMap((text) => [text, urlAlphabet(text), urlAlphabet(text).replaceAll("=", "")]);
};

const hexForms = (value: string): string[] => {
  const hex = Buffer.from(value, "utf8").toString("hex");
  return [hex, hex.toUpperCase()];
};

/** As it is, and as form data, where a blank is a plus. */
const textForms = (value: string): string[] => [value, value.replaceAll(" ", "+")];

/** Texts are often passed on line by line, so a multi-line key is also searched for by its lines. */
const linesOf = (value: string): string[] =>
  value.includes("\n")
    ? value
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line.length >= MIN_LINE && !line.startsWith("-----"))
    : [];

/** Shorter parts may be ordinary words. */
const MIN_PASSWORD = 8;
/** Of `user:password`, which basic authentication takes apart, the password is secret by itself. */
const passwordsOf = (value: string): string[] => {
  const password = value.includes("\n") ? "" : value.slice(value.indexOf(":") + 1);
  return password.length < value.length && password.length >= MIN_PASSWORD ? [password] : [];
};

/** Every form of every value, the longest first; blank values have none. */
export const secretForms = (secrets: ReadonlyMap<string, string>): readonly SecretForm[] => {
  const forms = new Map<string, SecretForm>();
  for (const [name, value] of secrets) {
    if (value.trim() === "") continue;
    const wholeWord = value.length < WHOLE_WORD_BELOW;
    const texts = wholeWord
      ? textForms(value)
      : [
          ...textForms(value),
          ...base64Forms(value),
          ...hexForms(value),
          ...linesOf(value).flatMap(textForms),
          ...passwordsOf(value).flatMap(textForms),
        ];
    for (const text of texts) if (!forms.has(text)) forms.set(text, { text, bytes: bytesOf(text), name, wholeWord });
  }
  return [...forms.values()].sort((a, b) => b.text.length - a.text.length);
};
