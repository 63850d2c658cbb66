// The canonical texts and hashes other languages are held against. They were written by a program that shares no code
// with ours.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { canonicalText } from "./canonical-text.ts";

interface Corpus {
  readonly valid: readonly { name: string; input: unknown; output: { text: string; sha256: string } }[];
  readonly invalid: readonly { name: string; input: string; code: string }[];
}

const file = new URL("../../fixtures/v1r4/canonical/text.json", import.meta.url);
const corpus = JSON.parse(readFileSync(file, "utf8")) as Corpus;

describe("[INV-I7-C1] fixtures/v1r4/canonical/text.json", () => {
  test.each(corpus.valid.map((entry) => [entry.name, entry] as const))("writes: %s", (_name, { input, output }) => {
    const text = canonicalText(input);
    expect({ text, sha256: createHash("sha256").update(text).digest("hex") }).toEqual(output);
  });

  test.each(corpus.invalid.map((entry) => [entry.name, entry] as const))("refuses: %s", (_name, { input, code }) => {
    expect(() => canonicalText(JSON.parse(input))).toThrow(expect.objectContaining({ code }));
  });
});
