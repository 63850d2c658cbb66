import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createToolCallCard } from "../cards/tool-cards.ts";
import type { ToolDefinition } from "./definition.ts";
import { foldName } from "./fold-name.ts";
import type { CompileSchema } from "./parameters-schema.ts";
import { compileArguments, parseToolDefinition } from "./parse-definition.ts";
import { planArguments } from "./plan-arguments.ts";
import type { TemplateValues } from "./template.ts";

const compileSchema: CompileSchema = (schema) => {
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema);
  return (value) =>
    validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => ({
          path: `$${instancePath.replaceAll("/", ".")}`,
          message: message ?? "",
        }));
};

const define = (options: unknown, parameters?: unknown): ToolDefinition =>
  parseToolDefinition(
    {
      tool_name: "search",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.web.search",
      after_execution: "suspend",
      parameters,
      options,
    },
    { projectId: "p1", version: "v1r4", compileSchema },
  );

const variables: TemplateValues = {
  project_id: "p1",
  agent_id: "helper",
  agent_turn_id: "turn_1",
  parent_step_id: null,
};

const plan = (definition: ToolDefinition, rawArguments: unknown) =>
  planArguments({ definition, rawArguments, variables, validate: compileArguments(definition, compileSchema) });

test("[SEC-8-10] what people answered is set by the plane; a caller's answers are dropped under any spelling", () => {
  const definition = define({ input: "answers" }, { type: "object", properties: { q: {}, answers: {} } });
  const forged = { q: 1, answers: { responses: { sure: {} } }, ANSWERS: 1 };
  const first = plan(definition, forged);
  expect([first.arguments, first.dropped]).toEqual([{ q: 1 }, ["answers"]]);
  const validate = compileArguments(definition, compileSchema);
  const answers = { responses: { sure: { action: "accept" } } };
  const next = planArguments({ definition, rawArguments: forged, answers, variables, validate });
  expect(next.arguments).toEqual({ q: 1, answers });
});

describe("layering", () => {
  test.each<[string, unknown, unknown, unknown]>([
    ["[UTP-5.3-2] a default fills a gap", { args: { defaults: { n: 3 } } }, {}, { n: 3 }],
    ["[UTP-5.3-2] a default gives way to the caller", { args: { defaults: { n: 3 } } }, { n: 1 }, { n: 1 }],
    ["[UTP-5.3-2] an explicit null counts as sent", { args: { defaults: { n: 3 } } }, { n: null }, { n: null }],
    ["[UTP-5.3-3] fixed overwrites the caller", { args: { fixed: { n: 3 } } }, { n: 1, q: "x" }, { n: 3, q: "x" }],
    ["[UTP-5.3-3] fixed overwrites a null", { args: { fixed: { n: 3 } } }, { n: null }, { n: 3 }],
    ["[UTP-5.3-3] fixed overwrites a default", { args: { defaults: { n: 1 }, fixed: { n: 3 } } }, {}, { n: 3 }],
    [
      "[UTP-5.3-7] an env parameter of the caller is dropped",
      { envs: { k: "KEY" } },
      { k: "mine", q: "x" },
      { q: "x" },
    ],
    [
      "[UTP-5.3-7] a default of an env parameter is skipped",
      { args: { defaults: { k: 1 } }, envs: { k: "KEY" } },
      {},
      {},
    ],
    [
      "[UTP-5.3-7] a fixed value of an env parameter is skipped",
      { args: { fixed: { k: 1 } }, envs: { k: "KEY" } },
      {},
      {},
    ],
    [
      "[UTP-5.3-8] strings of defaults and fixed are rendered",
      { args: { defaults: { s: "{agent_turn_id}" }, fixed: { p: "in {project_id}" } } },
      {},
      { s: "turn_1", p: "in p1" },
    ],
    [
      "[UTP-5.3-8] other kinds and nested strings pass as they are",
      { args: { defaults: { a: 1, b: null, c: ["{project_id}"] }, fixed: { d: { e: "{agent_id}" } } } },
      {},
      { a: 1, b: null, c: ["{project_id}"], d: { e: "{agent_id}" } },
    ],
    ["[UTP-5.3-8] the caller's strings are not templates", {}, { q: "{project_id} {x}" }, { q: "{project_id} {x}" }],
    ["text of a model", { args: { fixed: { n: 3 } } }, '{"n": 1, "n": 2, "q": "x"}', { n: 3, q: "x" }],
    ["nothing at all", {}, undefined, {}],
  ])("%s", (_title, options, raw, expected) => {
    expect(plan(define(options), raw).arguments).toEqual(expected);
  });

  test("[UTP-5.3-10] a variable without a value fails the call and is named", () => {
    const options = (allow_null: readonly string[]) => ({ args: { fixed: { s: "{parent_step_id}" }, allow_null } });
    expect(() => plan(define(options([])), {})).toThrow(
      expect.objectContaining({ code: "bad_request", message: expect.stringContaining("{parent_step_id}") }),
    );
    expect(plan(define(options(["parent_step_id"])), {}).arguments).toEqual({ s: "" });
  });

  test("a default the caller replaced is not rendered, so it cannot fail", () => {
    expect(plan(define({ args: { defaults: { s: "{parent_step_id}" } } }), { s: "x" }).arguments).toEqual({ s: "x" });
  });

  test("[UTP-5.3-18] the card records sorted names of defaults and fixed, and variable names, never values", () => {
    const definition = define({
      args: { defaults: { z: 1, a: 2, sent: 3 }, fixed: { y: 1, b: 2 } },
      envs: { key: "API_KEY" },
    });
    const { arguments: layered, metadata, dropped } = plan(definition, { sent: 0, b: 9, key: "mine" });
    expect(metadata).toEqual({
      argsDefaultsApplied: ["a", "z"],
      argsFixedApplied: ["b", "y"],
      argsEnvs: { key: "API_KEY" },
    });
    expect(dropped).toEqual(["b", "key"]);
    const card = createToolCallCard({
      cardId: "c1",
      projectId: "p1",
      createdAt: "2026-01-01T00:00:00Z",
      authorId: "helper",
      agentTurnId: "turn_1",
      toolCallId: "tc_1",
      toolName: "search",
      arguments: layered,
      ...metadata,
    });
    expect(card.metadata).toMatchObject({
      tool_args_defaults_applied: ["a", "z"],
      tool_args_fixed_applied: ["b", "y"],
      tool_args_envs: { key: "API_KEY" },
    });
  });

  test("[UTP-5.3-18] names are sorted whatever the order of the definition", () => {
    const definition = { tool_name: "t", options: { args: { defaults: { z: 1, a: 1 }, fixed: { y: 1, b: 1 } } } };
    const { metadata } = planArguments({ definition, rawArguments: {}, variables, validate: () => [] });
    expect(metadata).toEqual({ argsDefaultsApplied: ["a", "z"], argsFixedApplied: ["b", "y"] });
  });

  test("nothing applied, nothing recorded", () => {
    expect(plan(define({}), { q: "x" })).toEqual({ arguments: { q: "x" }, metadata: {}, dropped: [] });
  });
});

describe("validation", () => {
  const parameters = {
    type: "object",
    properties: { q: { type: "string" }, key: { type: "string" }, n: { type: "integer" } },
    required: ["q", "key"],
    additionalProperties: false,
  };
  const definition = define({ args: { fixed: { n: 3 } }, envs: { key: "KEY" } }, parameters);

  test("[UTP-W20-2] layered arguments must match parameters; env-managed ones are not asked for", () => {
    expect(plan(definition, { q: "x", n: "ignored" }).arguments).toEqual({ q: "x", n: 3 });
    expect(() => plan(definition, {})).toThrow(
      expect.objectContaining({ code: "bad_request", message: expect.stringContaining("search") }),
    );
    expect(() => plan(definition, { q: 1 })).toThrow(
      expect.objectContaining({ message: expect.stringContaining("$.q") }),
    );
  });

  test("[UTP-W20-2] an env-managed parameter that other arguments bring along is not asked for either", () => {
    const dependent = define(
      { envs: { key: "KEY" } },
      { type: "object", properties: { q: {} }, dependentSchemas: { q: { required: ["key"] } } },
    );
    expect(plan(dependent, { q: "x" }).arguments).toEqual({ q: "x" });
  });

  test.each([
    ["at the root", { $ref: "#/$defs/a" }],
    ["in a branch", { allOf: [{ if: {}, else: { $ref: "#/$defs/a" } }] }],
    ["two references away", { dependentSchemas: { q: { $ref: "#/$defs/b" } } }],
    ["with an escaped name", { anyOf: [{ $ref: "#/$defs/x~1y%20z" }] }],
  ])("[SEC-8-6] a managed parameter behind a reference %s is refused at registration", (_where, parts) => {
    const $defs = {
      a: { properties: { key: {} } },
      b: { oneOf: [{ $ref: "#/$defs/b" }, { $ref: "#/$defs/a" }] },
      "x/y z": { required: ["key"] },
    };
    const parameters = { type: "object", ...parts, $defs };
    expect(() => define({ envs: { key: "KEY" } }, parameters)).toThrow("behind a reference");
    expect(define({ envs: { other: "KEY" } }, parameters).tool_name).toBe("search");
  });

  test("[SEC-8-7] arguments beyond a closed schema are refused", () => {
    expect(() => plan(definition, { q: "x", extra: 1 })).toThrow(expect.objectContaining({ code: "bad_request" }));
  });

  test("a default does not make an invalid call valid, and the issues are bounded", () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x${i}`, 1]));
    const error = (() => {
      try {
        plan(definition, { q: 1, ...many });
      } catch (thrown) {
        return thrown as { readonly detail: { readonly issues: readonly unknown[] } };
      }
      return undefined;
    })();
    expect(error?.detail.issues).toHaveLength(8);
  });
});

describe("[SEC-8-1] nobody overrides what the author fixed", () => {
  const SPELLINGS = ["id", "ID", "Id", "iD", " id", "ｉｄ", "ıd", "İd", `id${" ".repeat(100_000)}`];

  test.each(SPELLINGS)("[SEC-8-2] %j does not stand beside the fixed id", (spelling) => {
    const layered = plan(define({ args: { fixed: { id: "ours" } } }), { [spelling]: "theirs" }).arguments;
    expect(layered).toEqual({ id: "ours" });
  });

  test("[SEC-8-8] a caller's argument name that takes long to compare does not hold up the call", () => {
    // Combining marks of two classes in turn; 80,000 of them took 8 seconds.
    const name = `a${"\u0301\u0323".repeat(40_000)}`;
    const began = process.cpuUsage();
    expect(plan(define({ args: { fixed: { id: "ours" } } }), { [name]: 1 }).arguments).toEqual({
      [name]: 1,
      id: "ours",
    });
    expect(process.cpuUsage(began).user).toBeLessThan(1000_000);
  });

  test("[SEC-8-8] a name the author manages is short enough to be compared in every call", () => {
    for (const options of [{ args: { fixed: { ["n".repeat(129)]: 1 } } }, { envs: { ["n".repeat(129)]: "KEY" } }]) {
      expect(() => define(options)).toThrow(expect.objectContaining({ code: "bad_request" }));
    }
    expect(define({ args: { fixed: { ["n".repeat(128)]: 1 } } }).tool_name).toBe("search");
  });

  test("[SEC-8-3] a prototype does not reach it", () => {
    const definition = define({ args: { fixed: { id: "ours" } } });
    for (const raw of [
      '{"__proto__": {"id": "theirs", "polluted": 1}}',
      '{"constructor": {"prototype": {"polluted": 1}}}',
      Object.create({ id: "theirs" }),
    ]) {
      const layered = plan(definition, raw).arguments;
      expect(layered.id).toBe("ours");
      expect(Object.getPrototypeOf(layered)).toBe(Object.prototype);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    }
  });

  test("[UTP-5.3-3] [INV-I8-R2] for any caller: fixed values stand, env parameters are absent, the definition is unchanged", () => {
    const name = fc.constantFrom("a", "A", "b", "B", "key", "KEY", "Key", "q", "__proto__", "constructor", "ａ");
    const raw = fc.oneof(
      fc.dictionary(name, fc.jsonValue()),
      fc
        .array(fc.tuple(name, fc.jsonValue()))
        .map(
          (members) =>
            `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`,
        ),
    );
    const definition = define({
      args: { defaults: { q: "{agent_id}", key: 1 }, fixed: { a: "{project_id}", b: { deep: [1] } } },
      envs: { key: "API_KEY" },
    });
    const before = JSON.stringify(definition);
    fc.assert(
      fc.property(raw, (rawArguments) => {
        const { arguments: layered, metadata } = plan(definition, rawArguments);
        expect(layered.a).toBe("p1");
        expect(layered.b).toEqual({ deep: [1] });
        const managed = Object.keys(layered).filter((key) => ["a", "b", "key"].includes(foldName(key)));
        expect(managed.sort()).toEqual(["a", "b"]);
        expect(metadata.argsEnvs).toEqual({ key: "API_KEY" });
        expect(JSON.stringify(definition)).toBe(before);
      }),
    );
  });
});

describe("[UTP-5.3-20] a value of the definition that its own schema does not take", () => {
  const parameters = { type: "object", properties: { n: { type: "integer" }, q: { type: "string" } } };
  test.each([
    [{ fixed: { n: "many" } }, {}, "options.args.fixed.n"],
    [{ defaults: { n: "many" } }, { q: "x" }, "options.args.defaults.n"],
  ])("%j: the error names the key, and that it is not the caller's", (args, sent, key) => {
    expect(() => plan(define({ args }, parameters), sent)).toThrow(
      expect.objectContaining({
        code: "bad_request",
        message: expect.stringContaining(`the value is ${key} of the definition, not the caller's`),
        detail: expect.objectContaining({ todo: expect.stringContaining(key) }),
      }),
    );
  });

  test("a value of the caller is the caller's", () => {
    expect(() => plan(define({ args: { fixed: { n: 1 } } }, parameters), { q: 5 })).toThrow(/^(?!.*definition).*q/u);
  });
});
