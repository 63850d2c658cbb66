import type { JsonValue } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRecordingLog } from "../../test/recording-log.ts";
import { createScrubber, scrubLog } from "./scrubber.ts";

const SECRET = 'p@ss/w"rd+ü 1\\2';
const scrubber = createScrubber(new Map([["KEY", SECRET]]));
const MARK = "[redacted KEY]";

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

describe("forms of a secret", () => {
  test.each([
    ["as it is", SECRET],
    ["JSON-escaped", JSON.stringify(SECRET).slice(1, -1)],
    ["JSON-escaped twice", JSON.stringify(JSON.stringify(SECRET)).slice(3, -3)],
    ["JSON-escaped to ASCII", 'p@ss/w\\"rd+\\u00fc 1\\\\2'],
    ["JSON-escaped with the slash", 'p@ss\\/w\\"rd+ü 1\\\\2'],
    ["URL-encoded", encodeURIComponent(SECRET)],
    ["URL-encoded in lower case", "p%40ss%2fw%22rd%2b%c3%bc%201%5c2"],
    ["as form data", new URLSearchParams({ k: SECRET }).toString().slice(2)],
    ["JSON-escaped with the slash as a code", "p@ss\\u002Fw\\u0022rd+\\u00FC 1\\u005c2"],
    ["in base64 whose slashes are escaped", base64(SECRET).replaceAll("/", "\\/")],
    ["in base64 inside a URL", encodeURIComponent(base64(SECRET))],
    ["URL-encoded twice", encodeURIComponent(encodeURIComponent(SECRET))],
    [
      "URL-encoded, each character",
      [...Buffer.from(SECRET)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
    ],
    ["in base64", base64(SECRET)],
    ["in base64 for URLs", Buffer.from(SECRET).toString("base64url")],
    ["in hex", Buffer.from(SECRET).toString("hex")],
    ["in base64 of base64", base64(base64(SECRET))],
    ["in base64 of base64, inside a longer text", base64(`{"key":"${base64(`Bearer ${SECRET}`)}"}`)],
    ["in hex of base64", Buffer.from(base64(SECRET)).toString("hex")],
    ["in base64 of hex", base64(Buffer.from(SECRET).toString("hex"))],
    ["in base64 of JSON", base64(JSON.stringify({ a: SECRET.replaceAll("\\", "").slice(0, 3), key: base64(SECRET) }))],
    ["in base64 of UTF-16", Buffer.from(SECRET, "utf16le").toString("base64")],
    ["in hex of UTF-16", Buffer.from(SECRET, "utf16le").toString("hex")],
    [
      "as UTF-16 that was read as bytes",
      [...SECRET]
        .map((unit) => `${unit}\0`)
        .join("")
        .slice(0, -1),
    ],
    ["as HTML entities", [...SECRET].map((unit) => `&#${unit.codePointAt(0)};`).join("")],
    ["as HTML entities in hex", [...SECRET].map((unit) => `&#x${unit.codePointAt(0)?.toString(16)};`).join("")],
    ["as HTML", SECRET.replaceAll('"', "&quot;").replaceAll("/", "&sol;").replaceAll("@", "&commat;")],
    ["in upper-case hex", Buffer.from(SECRET).toString("hex").toUpperCase()],
  ])("[ARCH-7-10] %s", (_name, form) => {
    const clean = scrubber.text(`before ${form} after`);
    expect(clean).toBe(`before ${MARK} after`);
  });

  test("[ARCH-7-10] inside a longer text that was encoded as a whole, wherever it stands", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 }), (before, after) => {
        const whole = base64(`${before}${SECRET}${after}`);
        const clean = scrubber.text(whole);
        expect(clean).toContain(MARK);
        // What is left of the encoding decodes to nothing of the secret's middle.
        expect(Buffer.from(clean.replace(MARK, ""), "base64").toString("utf8")).not.toContain("ss/w");
      }),
    );
  });

  test("[ARCH-7-10] the password of a value that is user and password", () => {
    const scrubber = createScrubber(new Map([["BASIC_KEY", "alice:hunter2-very-secret"]]));
    expect(scrubber.text('{"user":"alice","pw":"hunter2-very-secret"}')).not.toContain("hunter2");
    expect(createScrubber(new Map([["PLACE", "a:b"]])).text("a better place")).toBe("a better place");
  });

  test("[ARCH-7-10] however its characters are escaped, each in its own way", () => {
    const ways = [
      (unit: string) => JSON.stringify(unit).slice(1, -1),
      (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`,
      (unit: string) => (unit === "/" ? "\\/" : JSON.stringify(unit).slice(1, -1)),
    ];
    fc.assert(
      fc.property(
        fc.array(fc.nat(ways.length - 1), { minLength: 20, maxLength: 20 }),
        fc.boolean(),
        (choice, twice) => {
          const escaped = SECRET.split("")
            .map((unit, index) => ways[choice[index] ?? 0]?.(unit))
            .join("");
          const form = twice ? JSON.stringify(escaped).slice(1, -1) : escaped;
          expect(scrubber.text(`{"key":"${form}"}`)).toBe(`{"key":"${MARK}"}`);
        },
      ),
    );
  });

  test("[ARCH-7-10] whatever the value, none of its plain forms is left in a document that quotes it", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 5, maxLength: 40, unit: "grapheme" }), fc.string(), (secret, around) => {
        fc.pre(secret.trim().length >= 5);
        const own = createScrubber(new Map([["KEY", secret]]));
        const document = { [`k${secret}`]: [around + secret, { url: `https://x/?k=${encodeURIComponent(secret)}` }] };
        const clean = own.value(document as unknown as JsonValue);
        const texts = JSON.stringify(clean).replaceAll(MARK, "");
        fc.pre(!JSON.stringify({ k: [around, { url: "https://x/?k=" }] }).includes(secret));
        expect(texts).not.toContain(JSON.stringify(secret).slice(1, -1));
        expect(texts).not.toContain(encodeURIComponent(secret));
      }),
    );
  });
});

describe("what is looked at", () => {
  test("[INV-I8-S1] texts, keys and numbers at every level; everything else stays", () => {
    const own = createScrubber(new Map([["PIN", "8675309"]]));
    const value = { a: [8675309, 1, null, true], "id-8675309": { b: "tel 8675309." } };
    expect(own.value(value)).toEqual({
      a: ["[redacted PIN]", 1, null, true],
      "id-[redacted PIN]": { b: "tel [redacted PIN]." },
    });
  });

  test("[INV-I8-S1] overlapping secrets leave no half behind", () => {
    const own = createScrubber(
      new Map([
        ["A", "abcd1234"],
        ["B", "1234wxyz"],
      ]),
    );
    expect(own.text("-abcd1234wxyz-")).toBe("-[redacted A]-");
    expect(own.text("abcd1234abcd1234")).toBe("[redacted A][redacted A]");
  });

  test.each([
    ["the region is eu.", "the region is [redacted R]."],
    ["neutral", "neutral"],
    ['{"region":"eu"}', '{"region":"[redacted R]"}'],
    ["eu", "[redacted R]"],
  ])("[INV-I8-S2] a short value is removed only where it stands alone: %s", (text, clean) => {
    expect(createScrubber(new Map([["R", "eu"]])).text(text)).toBe(clean);
  });

  test("without secrets nothing is touched, not even copied", () => {
    const value = { a: [1, "two"] };
    expect(createScrubber(new Map()).value(value)).toBe(value);
    expect(createScrubber(new Map([["EMPTY", " "]])).forms).toEqual([]);
  });
});

test("[INV-I8-S3] log entries are scrubbed in message, names and values, whatever the values are", () => {
  const log = createRecordingLog();
  const clean = scrubLog(log, scrubber);
  const cycle: Record<string, unknown> = { secret: SECRET };
  cycle.self = cycle;
  clean.info(`using ${SECRET}`, {
    [SECRET]: 1,
    list: [SECRET],
    error: new Error(`no ${SECRET}`),
    cycle,
    none: undefined,
  });
  clean.warn(SECRET);
  clean.error("fine", { count: 3, ok: true });
  expect(log.text()).not.toContain("ss/w");
  expect(log.entries[0]?.fields).toEqual({
    [MARK]: 1,
    list: [MARK],
    error: `no ${MARK}`,
    cycle: "[unreadable]",
    none: undefined,
  });
  expect(log.entries[2]?.fields).toEqual({ count: 3, ok: true });
});
