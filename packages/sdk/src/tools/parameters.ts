// The forms in which parameters may be written, and what is made of them: JSON Schema for the plane; for the tool, the values
// that the schema library makes of the arguments (defaults filled in, transforms applied).

import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import {
  copyJson,
  formatJsonPath,
  isRecord,
  type JsonObject,
  type JsonPathSegment,
  UsageError,
} from "@toolplane/protocol";
import type { JsonSchemaType } from "./json-schema-type.ts";
import { ToolError } from "./tool-error.ts";

/** Plain JSON Schema, as an object. */
export type PlainSchema = { readonly [keyword: string]: unknown };

/** A schema that can describe itself as JSON Schema, and usually validates too: zod from 4.2, and any library that has both. */
export type ParametersSchema = StandardJSONSchemaV1 | PlainSchema;

type StandardProps = StandardJSONSchemaV1.Props & Partial<StandardSchemaV1.Props>;

/** What `run` gets. */
export type ArgumentsOf<S> =
  S extends StandardJSONSchemaV1<unknown, unknown>
    ? StandardJSONSchemaV1.InferOutput<S>
    : S extends { readonly type: "object" }
      ? JsonSchemaType<S>
      : JsonObject;

export interface ToolParameters {
  readonly jsonSchema: JsonObject;
  /** The value for the tool, or a ToolError `bad_request` that names every fault. */
  parse(args: JsonObject): Promise<unknown>;
}

/** Newest first; a library throws for a draft that it cannot write. */
const TARGETS = ["draft-2020-12", "draft-07"] as const;

const describe = (standard: StandardProps, tool: string): JsonObject => {
  let fault: unknown;
  for (const target of TARGETS) {
    try {
      return copyJson(standard.jsonSchema.input({ target })) as JsonObject;
    } catch (error) {
      fault ??= error;
    }
  }
  const why = fault instanceof Error ? fault.message : "it gave no reason";
  throw new UsageError(`${tool}: ${standard.vendor} cannot describe these parameters as JSON Schema: ${why}`);
};

/** The first faults are usually enough to repair a call; more would be noise. */
const MAX_ISSUES = 8;

const segmentOf = (segment: PropertyKey | StandardSchemaV1.PathSegment): JsonPathSegment => {
  const key = typeof segment === "object" ? segment.key : segment;
  return typeof key === "number" ? key : String(key);
};

const refuse = (issues: readonly StandardSchemaV1.Issue[]): ToolError => {
  const shown = issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => ({ path: formatJsonPath((path ?? []).map(segmentOf)), message }));
  const text = shown.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new ToolError("bad_request", `the arguments are not valid: ${text}`, { detail: { issues: shown } });
};

const fromStandard = (standard: StandardProps, tool: string): ToolParameters => ({
  jsonSchema: describe(standard, tool),
  async parse(args) {
    const outcome = await standard.validate?.(args);
    if (outcome === undefined) return args;
    if (outcome.issues !== undefined) throw refuse(outcome.issues);
    return outcome.value;
  },
});

/** The engine has checked plain JSON Schema before the call was sent; there is nothing left to do here. */
const fromPlain = (schema: PlainSchema): ToolParameters => ({
  jsonSchema: copyJson(schema) as JsonObject,
  parse: async (args) => args,
});

const hasStandard = (schema: unknown): schema is { readonly "~standard": Partial<StandardProps> } =>
  ((typeof schema === "object" && schema !== null) || typeof schema === "function") &&
  typeof (schema as { readonly "~standard"?: unknown })["~standard"] === "object";

export const readParameters = (schema: unknown, tool: string): ToolParameters => {
  if (hasStandard(schema)) {
    const standard = schema["~standard"];
    if (isRecord(standard.jsonSchema) && typeof standard.jsonSchema.input === "function") {
      return fromStandard(standard as StandardProps, tool);
    }
    const library = typeof standard.vendor === "string" ? standard.vendor : "the schema library";
    throw new UsageError(
      `${tool}: this version of ${library} cannot give JSON Schema (~standard.jsonSchema); update it or pass plain JSON Schema`,
    );
  }
  if (!isRecord(schema)) throw new UsageError(`${tool}: parameters must be a schema or a JSON Schema object`);
  return fromPlain(schema);
};
