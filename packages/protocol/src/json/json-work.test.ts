import { describe, expect, test } from "vitest";
import { parseRawArguments } from "../tools/raw-arguments.ts";
import { copyJson } from "./json-copy.ts";
import { parseJsonInTurns, parseJsonStrict } from "./parse-json.ts";

const list = (count: number, item: (i: number) => string): string =>
  `[${Array.from({ length: count }, (_, i) => item(i)).join(",")}]`;
const members = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(",")}}`;

describe("what a JSON text costs to read", () => {
  test.each<[string, string]>([
    ["a megabyte of rows with the same members", list(20_000, (i) => `{"name":"Alice Smith","age":${i},"city":"B"}`)],
    ["a megabyte of numbers", list(120_000, (i) => `0.${i}`)],
    ["a long text full of commas, braces and escapes", JSON.stringify('{[,:"\\'.repeat(200_000))],
    ["texts that end in backslashes", list(10_000, () => '"\\\\"')],
    ["a map of ten thousand names", members(10_000)],
    ["rows of two kinds, one inside the other", list(10_000, () => '{"a":{"x":1,"y":[{"z":2}]},"b":2}')],
  ])("[STALL-1] %s is read", (_title, text) => {
    expect(parseJsonStrict(text)).toEqual(JSON.parse(text));
  });

  test.each<[string, string]>([
    ["an object of many names", members(20_001)],
    ["objects that each have a name of their own", list(20_001, (i) => `{"k${i}":0}`)],
    ["objects that combine few names in many ways", list(20_001, (i) => `{"a${i % 150}":0,"b${i}":0}`)],
    ["names written with escapes", list(20_001, (i) => `{"\\u0061${i}":0}`)],
    ["many names after many that are alike", `[{"a":1},{"a":1},${members(20_001)}]`],
    ["too many numbers", list(250_001, () => "0")],
    ["too many lists", `[${"[],".repeat(125_001)}0]`],
    ["nothing but opening brackets", "[".repeat(250_001)],
    ["nothing but opening braces", '{"a":'.repeat(250_001)],
  ])("[STALL-1] %s is refused before anything is built", (_title, text) => {
    expect(() => parseJsonStrict(text)).toThrow(expect.objectContaining({ code: "payload_too_large" }));
  });

  test("[STALL-1] a long text is read in turns, with the same outcome", async () => {
    let turns = 0;
    const breathe = async (): Promise<void> => void turns++;
    const long = list(200_000, () => `${" ".repeat(20)}0`);
    expect(await parseJsonInTurns(long, breathe)).toEqual(JSON.parse(long));
    expect(turns).toBeGreaterThan(5);
    const refused = expect.objectContaining({ code: "payload_too_large" });
    await expect(parseJsonInTurns(members(20_001), breathe)).rejects.toEqual(refused);
    await expect(
      parseJsonInTurns(
        list(250_001, () => "0"),
        breathe,
      ),
    ).rejects.toEqual(refused);
    await expect(parseJsonInTurns("[", breathe)).rejects.toMatchObject({ code: "bad_request" });
  });

  test("[STALL-1] what cannot fit is not read to its end", () => {
    const late = `${"a".repeat(1_000)}\0`;
    expect(() => copyJson({ late }, { maxBytes: 100 })).toThrow(expect.objectContaining({ code: "result_too_large" }));
    const tooLarge = expect.objectContaining({ code: "payload_too_large" });
    expect(() => parseRawArguments({ late: late.repeat(3_000) })).toThrow(tooLarge);
  });

  test("[STALL-1] text that is not JSON ends, whatever is in it", () => {
    for (const text of ['"'.repeat(40_001), "}".repeat(40_000), ']{"'.repeat(20_000), "\\".repeat(40_000)])
      expect(() => parseJsonStrict(text)).toThrow(expect.objectContaining({ code: "bad_request" }));
  });
});
