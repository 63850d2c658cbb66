// Where schemas are compiled and values checked: on the event loop when that is known to be short, otherwise in a thread
// (SEC-10).
//   SC1. A schema is compiled on the event loop only while it is small. The result does not depend on where.
//   SC2. A check on the event loop has a budget of steps. A check that needs more throws `LongCheck`; its caller awaits `finish`,
//        outside of any flush that other callers wait for, and plans again with the verdict.

import { isToolplaneError, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { type CompileSchema, type SchemaIssue, type ValidateValue, walkSchema } from "@toolplane/protocol/registry";
import { roughBytes } from "../coalescer/rough-bytes.ts";
import type { Threads } from "../threads/threads.ts";
import { createSchemaCompiler, DEFAULT_SCHEMA_LIMITS } from "./json-schema.ts";
import type { SchemaWork } from "./schema-work.ts";

const MODULE = new URL(`./schema-work.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

/** Compiling takes a quarter of a millisecond for each schema inside, a pattern up to 20 ms. */
const SMALL = { bytes: 16 * 1024, schemas: 64, patterns: 2 } as const;
/** Some 10 ms. An array of 10,000 objects with four members each takes about as many. */
const STEPS_HERE = 200_000;

/** The outcome of a check: the issues, or why there is no answer. */
export type Verdict = readonly SchemaIssue[] | ToolplaneError;

/** Not a refusal: the check goes on in a thread. */
export class LongCheck extends ToolplaneError {
  readonly finish: (tenant: string) => Promise<Verdict>;
  /** Which check this was: the version of the definition, and the request itself, under which the caller keeps the verdict. */
  about: { readonly definitionHash: string; readonly ask: object } | undefined;
  constructor(finish: LongCheck["finish"]) {
    super("internal_error", "the arguments are checked in a thread");
    this.finish = finish;
  }
}

export interface SchemaChecks {
  /** For schemas that were admitted before: neither this nor the returned check takes long (`LongCheck`). */
  readonly compile: CompileSchema;
  /** The issues of a value, or none without one; throws `bad_request` when it is not a schema that can be checked. */
  check(schema: JsonObject, value: unknown, tenant: string): Promise<readonly SchemaIssue[]>;
}

/** Stops as soon as one bound is reached. */
const isSmall = (schema: JsonObject): boolean => {
  if (roughBytes(schema, SMALL.bytes) >= SMALL.bytes) return false;
  let schemas = 0;
  let patterns = 0;
  walkSchema(schema, (node) => {
    schemas++;
    if (node.pattern !== undefined) patterns++;
    if (node.patternProperties !== undefined) patterns += Object.keys(node.patternProperties ?? {}).length;
  });
  return schemas <= SMALL.schemas && patterns <= SMALL.patterns;
};

export const createSchemaChecks = (threads: Threads): SchemaChecks => {
  const inThread = (schema: JsonObject, value: unknown, tenant: string): Promise<readonly SchemaIssue[]> => {
    const input: SchemaWork = {
      schema: JSON.stringify(schema),
      value: value === undefined ? undefined : JSON.stringify(value),
    };
    const what = value === undefined ? "reading the schema" : "checking the value against the schema";
    return threads.run({ tenant, what, module: MODULE, input });
  };

  const long = (schema: JsonObject, value: unknown): never => {
    throw new LongCheck(async (tenant) => {
      try {
        return await inThread(schema, value, tenant);
      } catch (error) {
        if (isToolplaneError(error)) return error;
        throw error;
      }
    });
  };
  const compileHere = createSchemaCompiler({ ...DEFAULT_SCHEMA_LIMITS, maxSteps: STEPS_HERE }, long);
  const compile = (schema: JsonObject): ValidateValue =>
    isSmall(schema) ? compileHere(schema) : (value) => long(schema, value);

  return {
    compile,
    async check(schema, value, tenant) {
      if (!isSmall(schema)) return inThread(schema, value, tenant);
      const validate = compileHere(schema);
      if (value === undefined) return [];
      try {
        return validate(value);
      } catch (error) {
        if (!(error instanceof LongCheck)) throw error;
        const verdict = await error.finish(tenant);
        if (verdict instanceof ToolplaneError) throw verdict;
        return verdict;
      }
    },
  };
};

/** The answer of a check that was finished in a thread, for one version of a definition. */
export interface Checked {
  readonly definitionHash: string;
  readonly verdict: Verdict;
}

export const finishCheck = async (long: LongCheck, tenant: string): Promise<Checked> => ({
  definitionHash: long.about?.definitionHash ?? "",
  verdict: await long.finish(tenant),
});

/** The same definition with that answer; another version has to be checked again. */
export const withVerdict = <Pinned extends { readonly definitionHash: string; readonly validate: ValidateValue }>(
  pinned: Pinned,
  checked: Checked | undefined,
): Pinned => {
  if (checked === undefined || checked.definitionHash !== pinned.definitionHash) return pinned;
  const { verdict } = checked;
  const validate: ValidateValue = () => {
    if (verdict instanceof ToolplaneError) throw verdict;
    return verdict;
  };
  return { ...pinned, validate };
};
