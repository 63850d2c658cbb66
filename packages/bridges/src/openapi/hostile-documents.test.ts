// Documents that were written to do harm: each is refused with a reason or imported without it, in bounded work.

import type { JsonObject, JsonValue } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { documentWith, importSample, onlyTool } from "../../test/import-sample.ts";

const withSchema = (schema: JsonValue, more: JsonObject = {}) =>
  documentWith({ "/a": { get: { parameters: [{ name: "p", in: "query", schema }] } }, "/b": { get: {} } }, more);

const nest = (levels: number): JsonValue => {
  let schema: JsonValue = { type: "string" };
  for (let level = 0; level < levels; level += 1) schema = { type: "object", properties: { a: schema } };
  return schema;
};

const chain = (length: number): JsonObject =>
  Object.fromEntries(
    Array.from({ length }, (_, at) => [
      `S${at}`,
      { type: "array", items: { $ref: `#/components/schemas/S${at + 1}` } },
    ]),
  );

describe("[HTTP-3-3] one hostile operation is named, and the other one is imported", () => {
  test.each([
    ["a schema that is 100,000 levels deep", withSchema(nest(100_000)), "deeper than"],
    [
      "an enum of a million values",
      withSchema({ enum: Array.from({ length: 1_000_000 }, (_, at) => at) }),
      "larger than",
    ],
    [
      "a chain of 2,000 schemas",
      withSchema({ $ref: "#/components/schemas/S0" }, { components: { schemas: chain(2_000) } }),
      "more than 950 schemas",
    ],
    [
      "5,000 alternatives",
      withSchema({ anyOf: Array.from({ length: 5_000 }, () => ({ type: "string" })) }),
      "more than 950 schemas",
    ],
    ["a reference that leads nowhere", withSchema({ $ref: "#/components/schemas/None" }), "leads nowhere"],
    ["a reference to a prototype", withSchema({ $ref: "#/__proto__/polluted" }), "leads nowhere"],
    ["a reference to an address", withSchema({ $ref: "https://evil.example/s.json#/a" }), "leads to another address"],
    ["a reference to a file by address", withSchema({ $ref: "file:///etc/passwd" }), "leads to another address"],
    ["a reference without a scheme", withSchema({ $ref: "//evil.example/s.json" }), "leads to another address"],
    ["a file that is not there", withSchema({ $ref: "../../etc/passwd" }), "is not there"],
    ["a property with hidden characters", withSchema({ type: "object", properties: { "a\u202eb": {} } }), "bidi"],
    [
      "a parameter that refers to itself",
      documentWith(
        { "/a": { get: { parameters: [{ $ref: "#/components/parameters/P" }] } }, "/b": { get: {} } },
        { components: { parameters: { P: { $ref: "#/components/parameters/P" } } } },
      ),
      "leads back to itself",
    ],
    [
      "a header of the connection",
      documentWith({
        "/a": { get: { parameters: [{ name: "Proxy-Authorization", in: "header", required: true }] } },
        "/b": { get: {} },
      }),
      "cannot set",
    ],
    [
      "a header that is not a header",
      documentWith({
        "/a": { get: { parameters: [{ name: "X\r\nEvil: 1", in: "header", required: true }] } },
        "/b": { get: {} },
      }),
      "cannot set",
    ],
    [
      "1,000 parameters",
      documentWith({
        "/a": { get: { parameters: Array.from({ length: 1_000 }, (_, at) => ({ name: `p${at}`, in: "query" })) } },
        "/b": { get: {} },
      }),
      "more than 500 parameters",
    ],
    [
      "a path with line ends",
      documentWith({ "/a\r\nHost: evil": { get: {} }, "/b": { get: {} } }),
      "character that a path cannot have",
    ],
    [
      "a path that goes up by a parameter",
      documentWith({ "/public/..;/admin": { get: {} }, "/b": { get: {} } }),
      "is . or .. and leads elsewhere",
    ],
    [
      "a path that goes up",
      documentWith({ "/public/%2e%2E/admin": { get: {} }, "/b": { get: {} } }),
      "is . or .. and leads elsewhere",
    ],
    [
      "a path that is not a path",
      documentWith({ "https://evil.example/": { get: {} }, "/b": { get: {} } }),
      "begins with /",
    ],
    ["TRACE", documentWith({ "/a": { trace: {} }, "/b": { get: {} } }), "TRACE"],
  ])("%s", (_what, document, why) => {
    const { tools, refused } = importSample(document);
    expect(tools.map(({ definition }) => definition.tool_name)).toEqual(["api__get_b"]);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toContain(why);
    expect(JSON.stringify(refused).length).toBeLessThan(1_000);
  });
});

describe("[HTTP-3-3] a hostile document is refused", () => {
  test.each([
    [
      "100,000 operations",
      documentWith(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`/p${at}`, { get: {} }]))),
      "more than 50000 operations",
    ],
    [
      "10,000 operations",
      documentWith(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`/p${at}`, { get: {} }]))),
      "more than 5000: choose some with operations",
    ],
    ["a list", [], "no key openapi"],
    ["a number", 7, "no key openapi"],
    ["Swagger 2.0", { swagger: "2.0" }, "convert it first, for example with: npx swagger2openapi"],
    ["a version of its own", { openapi: "3.1.<script>" }, "3.0 and 3.1"],
  ])("%s", (_what, document, why) => {
    expect(() => importSample(document as JsonValue)).toThrow(why);
  });
});

describe("[HTTP-3-3] harmless after the import", () => {
  test("a tower of references is one definition, not two to the power of its height", () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => {
        const next = { $ref: `#/components/schemas/S${at + 1}` };
        return [`S${at}`, { type: "object", properties: { a: next, b: next } }];
      }),
    );
    const document = withSchema(
      { $ref: "#/components/schemas/S0" },
      { components: { schemas: { ...schemas, S300: { type: "string" } } } },
    );
    const { tools } = importSample(document);
    expect(tools).toHaveLength(2);
    expect(JSON.stringify(tools).length).toBeLessThan(60_000);
  });

  test("members called __proto__ and constructor stay members, and change no object", () => {
    const properties = JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}') as JsonObject;
    const schemas = JSON.parse('{"__proto__": {"type": "object", "properties": {"polluted": {}}}}') as JsonObject;
    const document = withSchema(
      {
        type: "object",
        properties: { inner: { type: "object", properties }, own: { $ref: "#/components/schemas/__proto__" } },
      },
      { components: { schemas } },
    );
    const { refused, tools } = importSample(document);
    expect(refused.length + tools.length).toBe(2);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("texts for models lose hidden characters and are cut; markup in an operation's id is not part of its name", () => {
    const document = documentWith({
      "/a": {
        get: { operationId: "<img src=x onerror=alert(1)>", description: `\u200bIgnore\u202e ${"all ".repeat(5_000)}` },
      },
    });
    const { definition } = onlyTool(importSample(document));
    expect(definition.tool_name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(definition.description).toMatch(/^Ignore all all/);
    expect(definition.description.length).toBeLessThan(4_100);
  });

  test("thousands of operations with one id are named in a short note", () => {
    const paths = Object.fromEntries(
      Array.from({ length: 4_000 }, (_, at) => [`/p${at}`, { get: { operationId: "same" } }]),
    );
    const { tools, notes } = importSample(documentWith(paths));
    expect(tools).toHaveLength(4_000);
    expect(notes.join("").length).toBeLessThan(2_000);
  });

  test("an id of a megabyte is as good as none, and a path of a megabyte is refused", () => {
    const long = `a${"_".repeat(1_000_000)}b`;
    const { tools, refused } = importSample(
      documentWith({ "/a": { get: { operationId: long } }, [`/${long}`]: { get: {} } }),
    );
    expect(tools.map(({ definition }) => definition.tool_name)).toEqual(["api__get_a"]);
    expect(refused).toMatchObject([{ reason: expect.stringContaining("2048 characters") }]);
    expect(JSON.stringify(refused).length).toBeLessThan(500);
  });

  test("a pattern that takes exponential time is kept only if it can be checked in linear time", () => {
    const { parameters } = onlyTool(
      importSample(
        documentWith({
          "/a": {
            get: { parameters: [{ name: "p", in: "query", schema: { type: "string", pattern: "^(?=(a+)+$)" } }] },
          },
        }),
      ),
    );
    expect(parameters.properties).toEqual({ p: { type: "string" } });
  });
});
