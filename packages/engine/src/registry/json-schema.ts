// The JSON Schema compiler for the protocol package: ajv, protected against hostile schemas.
//   JS1. Nothing is fetched: a reference that is not inside the document is an error.
//   JS2. Patterns run in linear time, and every check counts its steps (schema-meter.ts): a check that takes too many steps is
//       ended, so it cannot block the process.
//   JS3. Checking changes nothing: no defaults are filled in, no types converted. `format` is an annotation.
//   JS4. Issues name places and rules, never the checked values (I8).
// Each schema has an ajv of its own (0.2 ms, 6 kB), because a shared one keeps every schema it has ever seen.

import { canonicalText, formatJsonPath, isToolplaneError, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import {
  type CompileSchema,
  type SchemaIssue,
  type SchemaPath,
  type ValidateValue,
  walkSchema,
} from "@toolplane/protocol/registry";
import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { RegExpEngine, RegExpLike } from "ajv/dist/types/index.js";
import { schemaFault, valueIssues } from "./json-schema-issues.ts";
import { type LinearPattern, parseLinearPattern } from "./linear-pattern.ts";
import { addMeteredKeywords, createMeter, type Meter, markPlace, OutOfSteps, spend } from "./schema-meter.ts";

const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";
const DRAFT_07 = "http://json-schema.org/draft-07/schema";

type Dialect = typeof DRAFT_2020 | typeof DRAFT_07;

export interface SchemaLimits {
  readonly maxBytes: number;
  /** The most subschemas of a schema: compiling costs a quarter of a millisecond each. */
  readonly maxSchemas: number;
  /** What one check may cost. */
  readonly maxSteps: number;
}

export const DEFAULT_SCHEMA_LIMITS: SchemaLimits = { maxBytes: 256 * 1024, maxSchemas: 1_000, maxSteps: 500_000 };

/** A schema's declared depth is bounded by what the compiler's own recursion survives. */
const MAX_DEPTH = 64;

const refused = (why: string, cause?: unknown): ToolplaneError => new ToolplaneError("bad_request", why, { cause });

const dialectOf = (schema: JsonObject): Dialect => {
  const declared = schema.$schema;
  if (declared === undefined) return DRAFT_2020;
  const text = typeof declared === "string" ? declared : "";
  const plain = text.endsWith("#") ? text.slice(0, -1) : text;
  if (plain === DRAFT_2020) return DRAFT_2020;
  if (plain === DRAFT_07 || plain === DRAFT_07.replace("http:", "https:")) return DRAFT_07;
  throw refused(`$.$schema: this dialect is not supported; use ${DRAFT_2020} or ${DRAFT_07}#`);
};

const createAjv = (dialect: Dialect, options: Options): Ajv | Ajv2020 =>
  dialect === DRAFT_2020 ? new Ajv2020(options) : new Ajv(options);

/** `strict` would refuse unknown keywords, which every dialect allows as annotations. */
const PLAIN_OPTIONS: Options = { strict: false, validateFormats: false, logger: false };

/** One for each dialect and process: ajv takes 25 ms to compile a dialect's own schema. */
const dialectChecks = new Map<Dialect, ValidateFunction>();

const checkDialect = (dialect: Dialect, schema: JsonObject): void => {
  const known = dialectChecks.get(dialect) ?? createAjv(dialect, PLAIN_OPTIONS).getSchema(dialect);
  if (known === undefined) throw new ToolplaneError("internal_error", `ajv has no schema for ${dialect}`);
  dialectChecks.set(dialect, known as ValidateFunction);
  if (known(schema) !== true) throw refused(schemaFault(known.errors ?? []));
};

interface Prepared {
  readonly patterns: ReadonlyMap<string, LinearPattern | ToolplaneError>;
}

const tryPattern = (source: string, path: SchemaPath): LinearPattern | ToolplaneError => {
  try {
    return parseLinearPattern(source);
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
    return refused(`${formatJsonPath(path)}: ${error.message}`, error);
  }
};

/**
 * Reads the patterns and marks each place so that it is counted. A bad pattern is only an error once ajv uses it:
 * the walk also meets annotations, where `pattern` may be anything.
 */
const prepare = (schema: JsonObject, limits: SchemaLimits): Prepared => {
  const patterns = new Map<string, LinearPattern | ToolplaneError>();
  let schemas = 0;
  const learn = (source: string, path: SchemaPath): void => {
    if (!patterns.has(source)) patterns.set(source, tryPattern(source, path));
  };
  walkSchema(schema, (node, path) => {
    if (++schemas > limits.maxSchemas) throw refused(`more than ${limits.maxSchemas} schemas in one`);
    // Ajv would return a promise, and a promise is always true.
    if (Object.hasOwn(node, "$async")) throw refused(`${formatJsonPath(path)}: $async is not JSON Schema`);
    if (typeof node.pattern === "string") learn(node.pattern, [...path, "pattern"]);
    const byPattern = node.patternProperties;
    if (typeof byPattern === "object" && byPattern !== null)
      for (const source of Object.keys(byPattern)) learn(source, [...path, "patternProperties", source]);
    markPlace(node);
  });
  return { patterns };
};

const regExpEngine = ({ patterns }: Prepared, meter: Meter): RegExpEngine => {
  const engine = (source: string): RegExpLike & { toString(): string } => {
    const pattern = patterns.get(source) ?? parseLinearPattern(source);
    if (isToolplaneError(pattern)) throw pattern;
    return {
      test: (text) => {
        spend(meter, pattern.cost(text));
        return pattern.test(text);
      },
      // Ajv keeps one object per text of a pattern.
      toString: () => source,
    };
  };
  return Object.assign(engine, { code: "linearPattern" });
};

const copySchema = (schema: JsonObject, { maxBytes }: SchemaLimits): JsonObject => {
  try {
    return JSON.parse(canonicalText(schema, { maxBytes, maxDepth: MAX_DEPTH })) as JsonObject;
  } catch (error) {
    throw refused(error instanceof Error ? error.message : "not JSON", error);
  }
};

const build = (schema: JsonObject, dialect: Dialect, prepared: Prepared, meter: Meter): ValidateFunction => {
  const ajv = createAjv(dialect, {
    ...PLAIN_OPTIONS,
    meta: false,
    validateSchema: false,
    // Inlined references would not be counted.
    inlineRefs: false,
    // `required: ["toString"]` must look for an own member, not find the inherited one.
    ownProperties: true,
    strictNumbers: true,
    // 19.99 is a multiple of 0.01, except in floating point.
    multipleOfPrecision: 9,
    // Optimising takes time that grows with the square of the schema: 5 s instead of 0.6 s for 2,000 members.
    code: { regExp: regExpEngine(prepared, meter), optimize: false },
  });
  addMeteredKeywords(ajv, meter);
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (isToolplaneError(error)) throw error;
    throw refused(error instanceof Error ? error.message : "refused by the compiler", error);
  }
};

const TOO_MUCH: readonly SchemaIssue[] = [
  { path: "$", message: "checking takes too many steps: the schema is too costly for a value of this size" },
];

/**
 * Builds the compiler; throws `bad_request` with a reason for a document that is not a usable schema. A check that has used up
 * its steps returns what `exhausted` returns.
 */
export const createSchemaCompiler = (
  limits: SchemaLimits = DEFAULT_SCHEMA_LIMITS,
  exhausted: (schema: JsonObject, value: unknown) => readonly SchemaIssue[] = () => TOO_MUCH,
): CompileSchema => {
  return (given): ValidateValue => {
    const schema = copySchema(given, limits);
    const dialect = dialectOf(schema);
    checkDialect(dialect, schema);
    const meter = createMeter();
    const validate = build(schema, dialect, prepare(schema, limits), meter);
    return (value) => {
      meter.left = limits.maxSteps;
      try {
        return validate(value) === true ? [] : valueIssues(validate.errors ?? []);
      } catch (error) {
        // Endless recursion ends at the meter or, with large frames, at the stack limit.
        if (error instanceof OutOfSteps || error instanceof RangeError) return exhausted(given, value);
        throw error;
      } finally {
        // Errors keep references to pieces of the checked value.
        validate.errors = null;
      }
    };
  };
};
