// Which files a document can reach, and how it is read.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ImportWork, run } from "./import-work.ts";

let place: string;
const OPTIONS: ImportWork["options"] = {
  name: "api",
  projectId: "demo",
  prefix: undefined,
  baseUrl: "https://api.example.com",
  allowHosts: undefined,
  operations: undefined,
  auth: undefined,
  timeoutSeconds: undefined,
  documentUrl: undefined,
};

const importFile = (name: string, options: Partial<ImportWork["options"]> = {}) =>
  run({ options: { ...OPTIONS, ...options }, allow: [], document: { file: join(place, "api", name) } });

const documentWith = (reference: string): string =>
  JSON.stringify({
    openapi: "3.0.0",
    paths: {
      "/a": { get: { parameters: [{ name: "p", in: "query", schema: { $ref: reference } }] } },
      "/b": { get: {} },
    },
  });

const reasonFor = (reference: string): string => {
  writeFileSync(join(place, "api", "root.json"), documentWith(reference));
  const { tools, refused } = importFile("root.json");
  expect(tools.map(({ definition }) => definition.tool_name)).toContain("api__get_b");
  return refused[0]?.reason ?? "imported";
};

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "toolplane-import-"));
  mkdirSync(join(place, "api/parts"), { recursive: true });
  mkdirSync(join(place, "api-other"));
  const schema = '{"Secret": {"type": "string", "description": "hunter2"}}';
  writeFileSync(join(place, "secret.json"), schema);
  writeFileSync(join(place, "api-other/secret.json"), schema);
  writeFileSync(
    join(place, "api/parts/one.yaml"),
    "Size: { type: integer }\nBack: { $ref: '../parts/one.yaml#/Size' }\n",
  );
  writeFileSync(join(place, "api/parts/bad.yaml"), "a: [");
  writeFileSync(join(place, "api/parts/tag.yaml"), "a: !!js/function x\n");
  symlinkSync(join(place, "secret.json"), join(place, "api/parts/link.json"));
  symlinkSync(place, join(place, "api/parts/up"));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe("[HTTP-3-2] files", () => {
  test.each(["parts/one.yaml#/Size", "./parts/one.yaml#/Back", "parts/../parts/one.yaml#/Size"])(
    "%s is read",
    (reference) => {
      expect(reasonFor(reference)).toBe("imported");
    },
  );

  test.each([
    ["../secret.json#/Secret", "outside"],
    ["..%2fsecret.json#/Secret", "outside"],
    ["../api-other/secret.json#/Secret", "outside"],
    ["parts/link.json#/Secret", "outside"],
    ["parts/up/secret.json#/Secret", "outside"],
    ["/etc/passwd", "outside"],
    ["/etc/none", "not there"],
    ["file:///etc/passwd", "another address"],
    ["parts", "cannot be read"],
    ["parts/none.yaml#/A", "not there"],
    ["parts/bad.yaml#/a", "bad.yaml"],
    ["parts/tag.yaml#/a", "Unresolved tag"],
    ["parts/one.yaml#Size", "anchor"],
    ["\u0000", "not there"],
  ])("[HTTP-3-3] %j is refused: %s", (reference, why) => {
    const reason = reasonFor(reference);
    expect(reason).toContain(why);
    expect(reason).not.toContain("hunter2");
  });
});

describe("documents", () => {
  test.each([
    ["YAML", "openapi: 3.1.0\npaths: { /a: { get: {} } }\n"],
    ["JSON with a mark", '\uFEFF{"openapi":"3.1.0","paths":{"/a":{"get":{}}}}'],
    ["YAML that begins with a brace", '{ openapi: "3.1.0", paths: { /a: { get: {} } } }'],
  ])("%s is read", (_what, text) => {
    const outcome = run({ options: OPTIONS, allow: [], document: { text } });
    expect(outcome.tools).toHaveLength(1);
  });

  test.each([
    [
      "aliases that expand to gigabytes",
      `a: &a [1,1,1,1,1,1,1,1,1,1]\n${"bcdefghij"
        .split("")
        .map((name, at) => `${name}: &${name} [${`*${"abcdefghi"[at]},`.repeat(9)}*${"abcdefghi"[at]}]`)
        .join("\n")}\n`,
    ],
    ["nothing", ""],
    ["words", "hello"],
    ["a page", "<!doctype html><html></html>"],
  ])("%s is refused with a reason", (_what, text) => {
    expect(() => run({ options: OPTIONS, allow: [], document: { text } })).toThrow(/aliases|openapi|OpenAPI/);
  });

  test("[SEC-13-1] a server on loopback is refused with the line that would allow it", () => {
    const text = JSON.stringify({
      openapi: "3.0.0",
      servers: [{ url: "http://127.0.0.1:9/" }],
      paths: { "/a": { get: {} } },
    });
    const { refused } = run({ options: { ...OPTIONS, baseUrl: undefined }, allow: [], document: { text } });
    expect(refused[0]?.reason).toContain('egress.allow: ["http://127.0.0.1:9"]');
  });
});

test("a document that is not there is named", () => {
  expect(() => importFile("nope.json")).toThrow(`the file ${join(place, "api", "nope.json")} is not there`);
});

test("the time that the entry gives is the time of its tools", () => {
  writeFileSync(join(place, "api", "root.json"), documentWith("parts/one.yaml#/Size"));
  const [tool] = importFile("root.json", { timeoutSeconds: 90 }).tools;
  expect(tool?.definition.options.timeout_seconds).toBe(90);
});
