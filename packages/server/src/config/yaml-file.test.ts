import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_YAML_BYTES, parseYamlFile } from "./yaml-file.ts";

const bomb = [
  "a: &a [x, x, x, x, x, x, x, x, x]",
  "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]",
  "c: [*b, *b, *b, *b, *b, *b, *b, *b, *b]",
].join("\n");

describe("[SEC-10-Y1] YAML is read as data", () => {
  test.each<[string, string, string]>([
    ["a tag of its own", "a: 1\nb: !ruby/object x", "f.yaml:2: "],
    ["a standard tag", "b: !!str x", "f.yaml:1: tags such as"],
    ["a binary tag", "\nb: !!binary aGk=", "f.yaml:2: tags such as"],
    ["an alias bomb", bomb, "f.yaml"],
    ["many aliases", `a: &a 1\nb: [${Array(60).fill("*a").join(", ")}]`, "f.yaml:2: more than 50 aliases"],
    ["a key twice", "a: 1\na: 2", "f.yaml:2: "],
    ["two documents", "a: 1\n---\nb: 2", "f.yaml"],
    ["a key that is a list", "? [1, 2]\n: 3", "f.yaml:1: a key is a text"],
    ["broken text", "a: [1, 2\nb: 3", "f.yaml:"],
    ["too much of it", `a: ${"x".repeat(MAX_YAML_BYTES)}`, "f.yaml: larger than"],
  ])("%s is refused", (_what, text, message) => {
    expect(() => parseYamlFile(text, "f.yaml")).toThrow(message);
    expect(() => parseYamlFile(text, "f.yaml")).toThrow(expect.objectContaining({ code: "bad_request" }));
  });

  test("a prototype in it is a key like any other", () => {
    const { value } = parseYamlFile("__proto__: { polluted: true }\nconstructor: x", "f.yaml");
    expect(Object.keys(value as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("a merge key is not one", () => {
    expect(parseYamlFile("<<: { a: 1 }", "f.yaml").value).toEqual({ "<<": { a: 1 } });
  });

  test("whatever the text, it gives a value or one refusal that names the file", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
        try {
          parseYamlFile(text, "f.yaml");
        } catch (error) {
          expect(error).toMatchObject({ code: "bad_request", message: expect.stringMatching(/^f\.yaml(:\d+)?: /) });
        }
      }),
    );
  });
});

test.each<[string, readonly PropertyKey[], string | undefined, string]>([
  ["a value", ["a", "b", 1], undefined, "f.yaml:5"],
  ["a key of a map", ["a"], "c", "f.yaml:6"],
  ["a key at the top", [], "d", "f.yaml:7"],
  ["what is not there, by what holds it", ["a", "nothing"], undefined, "f.yaml:3"],
])("where: %s", (_what, path, key, expected) => {
  const text = "# first\na:\n  b:\n    - 1\n    - 2\n  c: 3\nd: 4\n";
  expect(parseYamlFile(text, "f.yaml").where(path, key)).toBe(expected);
});
