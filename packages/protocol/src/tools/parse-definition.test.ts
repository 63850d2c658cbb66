import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readFixture } from "../../test/fixture.ts";
import { isToolplaneError, ToolplaneError } from "../errors/toolplane-error.ts";
import type { CompileSchema } from "./parameters-schema.ts";
import { argumentsSchema, compileArguments, parseToolDefinition } from "./parse-definition.ts";

const compileSchema: CompileSchema = (schema) => {
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema);
  return (value) =>
    validate(value)
      ? []
      : (validate.errors ?? []).map((error) => ({ path: error.instancePath, message: error.message ?? "" }));
};

const SCOPE = { projectId: "p1", version: "v1r4", compileSchema };
const parse = (input: unknown) => parseToolDefinition(input, SCOPE);

const refusalOf = (input: unknown, options = SCOPE): ToolplaneError => {
  try {
    parseToolDefinition(input, options);
  } catch (error) {
    if (isToolplaneError(error)) return error;
    throw error;
  }
  throw new ToolplaneError("internal_error", "it was accepted");
};

const least = {
  tool_name: "count_words",
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.run",
  after_execution: "suspend",
};

describe.each([
  ["names", "[UTP-5.2-2] [API-3-R1] tool_name or its alias name, trimmed, of A-Z a-z 0-9 _ -, at most 64"],
  ["reserved-names", "[UTP-5.2-9] [SEC-1-R2] reserved names are refused in every spelling"],
  ["shape", "[UTP-5.2-1] [UTP-5.2-3] [UTP-5.2-4] [UTP-5.2-10] [UTP-5.1-1] the parts of a definition"],
  ["subjects", "[UTP-5.2-11] [UTP-W19] [SEC-1-R1] [UTP-D24] target_subject is parsed as a subject"],
  ["parameters", "[UTP-5.2-6] [UTP-5.2-7] [SEC-10-R1] [SEC-10-R2] parameters are an object schema of one document"],
  ["array-items", "[UTP-5.2-5] an array says what it holds; the error names its place"],
  ["options", "[UTP-5.3-1] [UTP-5.2-4] options are checked key by key"],
  ["templates", "[UTP-5.3-9] [SEC-8-4] unknown template variables are refused at registration"],
  ["env-names", "[SEC-7-R1] [UTP-W34] a definition cannot name a variable of the system"],
])("%s", (name, title) => {
  const { valid, invalid } = readFixture(`tool-definition/${name}`);

  test.each(valid)(`${title}: $name passes`, ({ input, output }) => {
    expect(parse(input)).toMatchObject(output ?? {});
  });

  test.each(invalid)(`${title}: $name is refused`, ({ input, code, says }) => {
    const error = refusalOf(input);
    expect(error.code).toBe(code);
    expect(error.message).toContain(says ?? "");
  });
});

describe("parseToolDefinition", () => {
  test("[UTP-5.1-2] [UTP-D20] every field is kept, the description too, and what is absent has its empty value", () => {
    expect(parse({ ...least, description: "Counts." })).toEqual({
      tool_name: "count_words",
      description: "Counts.",
      parameters: {},
      target_subject: least.target_subject,
      after_execution: "suspend",
      options: {},
    });
  });

  test("the outcome is frozen at every depth and shares nothing with the upload", () => {
    const upload = { ...least, options: { args: { fixed: { a: { b: [1] } } } } };
    const definition = parse(upload);
    upload.options.args.fixed.a.b.push(2);
    const inner = definition.options.args?.fixed?.a as { readonly b: readonly number[] };
    expect(inner.b).toEqual([1]);
    expect(Object.isFrozen(inner.b)).toBe(true);
  });

  test("[SEC-10-R3] a hidden character in the description is refused with its code point and place", () => {
    expect(refusalOf({ ...least, description: "Reads a file\u2066 and more" }).message).toContain("U+2066 at 12");
  });

  test("a description a model could not read is refused", () => {
    expect(refusalOf({ ...least, description: "a".repeat(16_385) }).message).toContain("description");
  });

  test("[SEC-10-R4] a definition beyond the size cap is payload_too_large, beyond the depth cap bad_request", () => {
    const large = { text: "a".repeat(300_000) };
    expect(refusalOf({ ...least, options: { jina: large } }).code).toBe("payload_too_large");
    expect(refusalOf({ ...least, tool_name: large.text }).code).toBe("payload_too_large");
    let deep: unknown = "x";
    for (let i = 0; i < 60; i++) deep = { deep };
    expect(refusalOf({ ...least, options: { jina: deep } }).code).toBe("bad_request");
  });

  test("[SEC-10-R4] a cycle and a graph that unfolds to an enormous tree end at the caps", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(refusalOf({ ...least, options: { jina: cycle } }).code).toBe("bad_request");
    let bomb: unknown = ["lol"];
    for (let i = 0; i < 40; i++) bomb = [bomb, bomb];
    expect(refusalOf({ ...least, options: { jina: { bomb } } }).code).toBe("payload_too_large");
  });

  test("[UTP-5.2-7] what the compiler throws becomes bad_request, whatever it is", () => {
    for (const thrown of [new TypeError("odd"), "text", undefined]) {
      const error = refusalOf(least, {
        ...SCOPE,
        compileSchema: () => {
          throw thrown;
        },
      });
      expect(error.code).toBe("bad_request");
      expect(error.message).toContain("parameters");
    }
  });

  test("[SEC-7-R2] a variable outside the operator's list is refused, wherever it is named", () => {
    const allowEnv = (name: string) => name === "SEARCH_API_KEY";
    const withOptions = (options: unknown) => ({ ...least, options });
    expect(
      parseToolDefinition(withOptions({ envs: { k: "SEARCH_API_KEY" } }), { ...SCOPE, allowEnv }).options.envs,
    ).toEqual({ k: "SEARCH_API_KEY" });
    for (const options of [
      { envs: { k: "HOME" } },
      { jina: { auth_env: "HOME" } },
      { openapi: { auth: { env: "HOME" } } },
    ]) {
      expect(refusalOf(withOptions(options), { ...SCOPE, allowEnv } as typeof SCOPE).message).toContain("HOME");
    }
  });

  test("[SEC-8-5] a parameter that differs only by case from a managed one is refused", () => {
    const parameters = { type: "object", properties: { ID: { type: "string" } } };
    for (const options of [{ args: { fixed: { id: 1 } } }, { envs: { id: "KEY" } }, { envs: { "\uff29D": "KEY" } }]) {
      expect(refusalOf({ ...least, parameters, options }).message).toContain("differ only by case");
    }
    expect(refusalOf({ ...least, options: { args: { defaults: { Id: 1 }, fixed: { id: 1 } } } }).message).toContain(
      "Id",
    );
  });

  test("a fixed or default value that a closed schema would refuse in every call is refused now", () => {
    const parameters = { type: "object", properties: { q: { type: "string" } }, additionalProperties: false };
    const error = refusalOf({ ...least, parameters, options: { args: { fixed: { project_id: "{project_id}" } } } });
    expect(error.message).toContain("$.options.args.fixed.project_id");
    expect(parse({ ...least, parameters, options: { envs: { key: "API_KEY" } } }).options.envs).toEqual({
      key: "API_KEY",
    });
  });

  test("[UTP-5.2-12] only the engine registers built-in names and engine subjects", () => {
    const pmo = {
      tool_name: "fork_join",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.fork_join",
      after_execution: "suspend",
    };
    expect(parseToolDefinition(pmo, { ...SCOPE, internal: true }).tool_name).toBe("fork_join");
    expect(refusalOf(pmo).code).toBe("bad_request");
    for (const wrong of [
      { ...pmo, tool_name: "submit_result" },
      { ...pmo, tool_name: "FORK_JOIN" },
      { ...pmo, target_subject: pmo.target_subject.replace("{project_id}", "p2") },
      { ...pmo, target_subject: pmo.target_subject.replace("v1r4", "v1r3") },
      { ...pmo, target_subject: pmo.target_subject.replace("sys.pmo", "sys.judge") },
    ]) {
      expect(refusalOf(wrong, { ...SCOPE, internal: true } as typeof SCOPE).code).toBe("bad_request");
    }
  });

  test("[INV-I8-R1] a refusal never quotes a value of the upload", () => {
    const secret = "sk-live-0123456789";
    for (const options of [{ retry: secret }, { envs: { k: `${secret}!` } }, { timeout_seconds: secret }]) {
      const error = refusalOf({ ...least, options });
      expect(JSON.stringify(error.toWire())).not.toContain(secret);
    }
  });

  test("random malformed definitions are refused with a ToolplaneError and nothing else", () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    const json = fc.jsonValue();
    const almost = fc.record(
      {
        tool_name: fc.oneof(fc.constant("t"), anything),
        name: anything,
        description: fc.oneof(fc.string({ unit: "binary" }), anything),
        parameters: fc.oneof(fc.constant({ type: "object" }), fc.dictionary(fc.string(), json), anything),
        target_subject: fc.oneof(fc.constant(least.target_subject), anything),
        after_execution: fc.oneof(fc.constant("suspend"), anything),
        options: fc.oneof(
          fc.record(
            { args: anything, envs: anything, timeout_seconds: anything, jina: anything },
            { requiredKeys: [] },
          ),
          anything,
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(almost, anything), (input) => {
        try {
          parse(input);
        } catch (error) {
          expect(error).toBeInstanceOf(ToolplaneError);
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe("argumentsSchema", () => {
  const parameters = {
    type: "object",
    properties: { q: { type: "string" }, key: { type: "string" } },
    required: ["q", "key"],
    allOf: [{ required: ["key"] }, { if: { required: ["z"] }, else: { required: ["key"] } }],
    dependentRequired: { q: ["key"] },
  };

  test("[UTP-5.3-11] env-managed parameters are not required at dispatch, wherever the schema asks for them", () => {
    const definition = parse({ ...least, parameters, options: { envs: { key: "API_KEY" } } });
    expect(compileArguments(definition, compileSchema)({ q: "x" })).toEqual([]);
    expect(compileArguments(definition, compileSchema)({})).not.toEqual([]);
  });

  test("without envs it is the parameters themselves", () => {
    const definition = parse({ ...least, parameters });
    expect(argumentsSchema(definition)).toBe(definition.parameters);
  });
});
