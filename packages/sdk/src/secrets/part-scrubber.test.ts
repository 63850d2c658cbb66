import type { JsonValue } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPartScrubber } from "./part-scrubber.ts";
import { createScrubber } from "./scrubber.ts";

const SECRET = "s3cr3t-value";
const scrubber = createScrubber(new Map([["KEY", SECRET]]));
const MARK = "[redacted KEY]";

const run = (parts: readonly JsonValue[]): JsonValue[] => {
  const out: JsonValue[] = [];
  const scrubbed = createPartScrubber(scrubber, (part) => out.push(part));
  for (const part of parts) scrubbed.push(part);
  scrubbed.flush();
  return out;
};

describe("a secret cut between parts", () => {
  test.each<[string, JsonValue[], JsonValue[]]>([
    ["not cut", [`a ${SECRET} b`, "c"], [`a ${MARK} b`, "c"]],
    ["cut in two", ["a s3cr3", "t-value b"], [`a ${MARK}`, " b"]],
    ["cut in three", ["a s3", "cr3t-va", "lue b"], [`a ${MARK}`, "", " b"]],
    ["begun and not ended", ["a s3cr", "et"], ["a s3cr", "et"]],
    ["begun at the very end", ["a s3cr"], ["a s3cr"]],
    [
      "at one place of objects",
      [
        { type: "text", delta: "x s3cr3t" },
        { type: "text", delta: "-value y" },
      ],
      [
        { type: "text", delta: `x ${MARK}` },
        { type: "text", delta: " y" },
      ],
    ],
    [
      "with a part of another kind between",
      [{ delta: "s3cr3t" }, { progress: 5 }, { delta: "-value" }],
      [{ delta: MARK }, { progress: 5 }, { delta: "" }],
    ],
    [
      "in base64",
      [Buffer.from(SECRET).toString("base64").slice(0, 7), Buffer.from(SECRET).toString("base64").slice(7)],
      [MARK, ""],
    ],
    ["numbers and nothing", [1, null, true], [1, null, true]],
  ])("[SEC-7-S1] %s", (_name, parts, clean) => {
    expect(run(parts)).toEqual(clean);
  });

  test("[SEC-7-S1] however a text is cut, the secret does not come out and everything else does", () => {
    const text = fc.array(fc.constantFrom("s3cr3t", "-value", SECRET, "s", "ab", " ", "s3"), { maxLength: 12 });
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 }), (words, cuts) => {
        const whole = words.join("");
        const parts: string[] = [];
        let at = 0;
        for (const cut of [...cuts, whole.length]) {
          if (at < whole.length) parts.push(whole.slice(at, at + cut));
          at += cut;
        }
        const out = run(parts);
        expect(out).toHaveLength(parts.length);
        expect(out.join("")).not.toContain(SECRET);
        expect(out.join("")).toBe(whole.replaceAll(SECRET, MARK));
      }),
    );
  });
});

test("[SEC-7-S1] an escaped secret is found wherever it is cut, also inside an escape", () => {
  const secret = 'k/e"y\u00fc-5f1c';
  const own = createScrubber(new Map([["KEY", secret]]));
  const forms = [
    'k\\/e\\"y\\u00fc-5f1c',
    "k\\u002Fe\\u0022y\\u00FC\\u002d5f1c",
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  ];
  for (const form of forms) {
    for (let cut = 0; cut <= form.length; cut += 1) {
      const out: JsonValue[] = [];
      const scrubbed = createPartScrubber(own, (part) => out.push(part));
      for (const part of [`a ${form.slice(0, cut)}`, `${form.slice(cut)} b`]) scrubbed.push(part);
      scrubbed.flush();
      expect(out.join(""), `${form} cut at ${cut}`).toBe(`a ${MARK} b`);
    }
  }
});

test("[SEC-7-S1] a whole secret waits as long as its end may begin another", () => {
  const out: JsonValue[] = [];
  const two = createScrubber(
    new Map([
      ["A", "abcde"],
      ["B", "cdefg"],
    ]),
  );
  const scrubbed = createPartScrubber(two, (part) => out.push(part));
  for (const part of ["xab", "cde", "fg", "!"]) scrubbed.push(part);
  expect(out).toEqual(["x[redacted A]", "", "", "!"]);
});

test("[SEC-7-S2] parts leave at once unless they end with a possible beginning, and always in order", () => {
  const out: JsonValue[] = [];
  const scrubbed = createPartScrubber(scrubber, (part) => out.push(part));
  scrubbed.push("free");
  expect(out).toEqual(["free"]);
  scrubbed.push("held s3");
  scrubbed.push({ n: 1 });
  expect(out).toEqual(["free"]);
  scrubbed.push("no secret");
  expect(out).toEqual(["free", "held s3", { n: 1 }, "no secret"]);
});

test("[SEC-7-S2] no more than a bounded number waits; then the doubtful end is taken for a secret", () => {
  const out: JsonValue[] = [];
  const scrubbed = createPartScrubber(scrubber, (part) => out.push(part));
  scrubbed.push("x s3cr");
  for (let i = 0; i < 300; i += 1) scrubbed.push(i);
  expect(out.length).toBeGreaterThan(200);
  expect(out[0]).toBe("x [redacted secret]");
  expect(out.slice(1)).toEqual(Array.from({ length: out.length - 1 }, (_, index) => index));
});
