import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import type { JsonObject } from "@toolplane/protocol";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type ArgumentsOf, readParameters } from "./parameters.ts";

/** A library of another make: a function with the standard properties, as some have it. */
const foreignSchema = (targets: readonly string[]): StandardJSONSchemaV1<{ n: string }, { n: number }> => {
  const schema = () => {};
  return Object.assign(schema, {
    "~standard": {
      version: 1 as const,
      vendor: "other",
      validate: (value: unknown) => {
        const { n } = value as { n: string };
        return Number.isNaN(Number(n))
          ? { issues: [{ message: "not a number", path: [{ key: "n" }] }] }
          : { value: { n: Number(n) } };
      },
      jsonSchema: {
        input: ({ target }: { readonly target: string }) => {
          if (!targets.includes(target)) throw new RangeError(`no ${target}`);
          return { $schema: target, type: "object", properties: { n: { type: "string" } } };
        },
        output: () => ({ type: "object" }),
      },
    },
  });
};

describe("JSON Schema of the parameters", () => {
  test("[API-6-2] zod describes itself, as what callers send", () => {
    const { jsonSchema } = readParameters(z.object({ text: z.string(), top: z.number().default(5) }), "t");
    expect(jsonSchema).toMatchObject({
      type: "object",
      properties: { text: { type: "string" }, top: { type: "number", default: 5 } },
      required: ["text"],
    });
  });

  test.each([
    ["the newest it can", ["draft-2020-12", "draft-07"], "draft-2020-12"],
    ["an older one", ["draft-07"], "draft-07"],
  ])("[API-6-2] any other library is asked for %s", (_name, targets, used) => {
    expect(readParameters(foreignSchema(targets), "t").jsonSchema.$schema).toBe(used);
  });

  test("[API-6-2] plain JSON Schema is taken as it is, and copied", () => {
    const schema = { type: "object", properties: { text: { type: "string" } } };
    const { jsonSchema } = readParameters(schema, "t");
    expect(jsonSchema).toEqual(schema);
    expect(jsonSchema).not.toBe(schema);
  });

  test.each([
    [
      "a library without JSON Schema",
      { "~standard": { version: 1, vendor: "old", validate: () => ({ value: 1 }) } },
      "old",
    ],
    ["a library that fails", foreignSchema([]), "no draft-2020-12"],
    ["a text", "object", "must be a schema"],
    ["nothing", undefined, "must be a schema"],
    ["a list", [], "must be a schema"],
  ])("[API-6-2] %s is a mistake that says so", (_name, schema, words) => {
    expect(() => readParameters(schema, "defineTool t")).toThrow(words);
  });
});

describe("what run gets", () => {
  test("[API-6-S11] values the library makes: defaults filled in, transforms applied", async () => {
    const schema = z.object({
      text: z.string().trim(),
      top: z.number().default(5),
      when: z.string().transform(Number),
    });
    const parsed = await readParameters(schema, "t").parse({ text: " x ", when: "3" });
    expect(parsed).toEqual({ text: "x", top: 5, when: 3 });
    expect(await readParameters(foreignSchema(["draft-07"]), "t").parse({ n: "7" })).toEqual({ n: 7 });
  });

  test("[API-6-S11] arguments the library refuses are bad_request naming every place", async () => {
    const schema = z.object({ text: z.string(), list: z.array(z.number()) });
    const work = readParameters(schema, "t").parse({ list: [1, "2"] });
    await expect(work).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(/\$\.text.*\$\.list\[1\]/),
      detail: { issues: [{ path: "$.text" }, { path: "$.list[1]" }] },
    });
    await expect(readParameters(foreignSchema(["draft-07"]), "t").parse({ n: "x" })).rejects.toMatchObject({
      message: expect.stringContaining("$.n: not a number"),
    });
  });

  test("a library that only describes passes the arguments on", async () => {
    const standard = { version: 1, vendor: "x", jsonSchema: { input: () => ({ type: "object" }) } };
    expect(await readParameters({ "~standard": standard }, "t").parse({ a: 1 })).toEqual({ a: 1 });
  });
});

describe("types", () => {
  test("[API-6-1] flow from a library's schema", () => {
    const schema = z.object({ text: z.string(), when: z.string().transform(Number) });
    expectTypeOf<ArgumentsOf<typeof schema>>().toEqualTypeOf<{ text: string; when: number }>();
    expectTypeOf<ArgumentsOf<StandardJSONSchemaV1<{ n: string }, { n: number }>>>().toEqualTypeOf<{ n: number }>();
  });

  test("[API-6-1] flow from plain JSON Schema written in place", () => {
    const schema = {
      type: "object",
      properties: {
        text: { type: "string" },
        mode: { enum: ["map", "reduce"] },
        top: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
        at: { anyOf: [{ type: "number" }, { type: "null" }] },
        nested: { type: "object", properties: { deep: { type: "boolean" } }, required: ["deep"] },
      },
      required: ["text", "mode"],
    } as const;
    expectTypeOf<ArgumentsOf<typeof schema>>().toEqualTypeOf<{
      text: string;
      mode: "map" | "reduce";
      top?: number;
      tags?: string[];
      at?: number | null;
      nested?: { deep: boolean };
    }>();
    expectTypeOf<ArgumentsOf<Record<string, unknown>>>().toEqualTypeOf<JsonObject>();
  });
});
