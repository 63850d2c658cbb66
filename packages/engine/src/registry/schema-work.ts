// The part of checking schemas that runs in a thread: compile, and check a value if there is one. The thread remembers
// what it compiled last, since a tool with a large schema is called more than once.

import type { JsonObject } from "@toolplane/protocol";
import type { SchemaIssue, ValidateValue } from "@toolplane/protocol/registry";
import { LRUCache } from "lru-cache";
import { createSchemaCompiler, DEFAULT_SCHEMA_LIMITS } from "./json-schema.ts";

export interface SchemaWork {
  readonly schema: string;
  /** Absent when only the schema is asked about. */
  readonly value?: string | undefined;
}

/** The thread's time limit usually ends a check earlier, except a check of few expensive operations. */
const MAX_STEPS = 100_000_000;
const REMEMBERED = 32;

const compile = createSchemaCompiler({ ...DEFAULT_SCHEMA_LIMITS, maxSteps: MAX_STEPS });
const compiled = new LRUCache<string, ValidateValue>({ max: REMEMBERED });

export const run = ({ schema, value }: SchemaWork): readonly SchemaIssue[] => {
  const known = compiled.get(schema);
  const validate = known ?? compile(JSON.parse(schema) as JsonObject);
  if (known === undefined) compiled.set(schema, validate);
  return value === undefined ? [] : validate(JSON.parse(value) as unknown);
};
