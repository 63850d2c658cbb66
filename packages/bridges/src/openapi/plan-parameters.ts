// The parameters of one operation: as arguments of the tool, and as the executor writes them.
//   PP1. Two parameters of one name in different places are two arguments: the later one is called `query_id`, `header_id`, ...
//   PP2. Headers that belong to the connection, to the body or to the credential are not arguments. A required one of the first
//        kind makes the operation unusable; the operation is then refused.

import { badRequest, isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import type { HttpAuth } from "../http/plan-auth.ts";
import { cleanText } from "./clean-text.ts";
import type { ConvertedSchema, SchemaConverter } from "./convert-schema.ts";
import { type ListedOperation, objectAt } from "./list-operations.ts";
import { type Located, ownMember, type References, shown } from "./references.ts";

export interface PlannedParameter {
  readonly argument: string;
  readonly converted: ConvertedSchema;
  readonly description: string;
  readonly required: boolean;
  /** As `options.openapi.parameters` has it. */
  readonly written: JsonObject;
}

export interface PlannedParameters {
  readonly parameters: readonly PlannedParameter[];
  readonly idempotencyHeader: string | undefined;
}

const PLACES: ReadonlySet<string> = new Set(["path", "query", "header", "cookie"]);
/** OpenAPI says that the first three are ignored as parameters; the others are written by the HTTP client itself. */
const IGNORED: ReadonlySet<string> = new Set([
  "accept",
  "content-type",
  "authorization",
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "transfer-encoding",
]);
const OF_THE_CONNECTION = /^(?:cookie|expect|te|trailer|upgrade|proxy-.*)$/u;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/u;
const IDEMPOTENCY = "idempotency-key";
const MAX_PARAMETERS = 500;
const MAX_NAME = 128;
const MAX_DESCRIPTION = 1_000;
const STYLES: ReadonlySet<string> = new Set([
  "simple",
  "label",
  "matrix",
  "form",
  "spaceDelimited",
  "pipeDelimited",
  "deepObject",
]);

const listAt = (references: References, holder: Located<JsonObject>): readonly Located<JsonObject>[] => {
  const list = ownMember(holder.value, "parameters");
  if (!Array.isArray(list)) return [];
  return (list as readonly JsonValue[]).flatMap((value) => {
    const found = objectAt(references, { value, file: holder.file });
    return found === undefined ? [] : [found];
  });
};

const keyOf = ({ value }: Located<JsonObject>): string => `${String(value.in)} ${String(value.name)}`;

/** A parameter of the operation replaces one of the path with the same name and place. */
const merge = (references: References, { operation, pathItem }: ListedOperation): readonly Located<JsonObject>[] => [
  ...new Map(
    [...listAt(references, pathItem), ...listAt(references, operation)].map((one) => [keyOf(one), one] as const),
  ).values(),
];

/** The schema, and whether the value travels as JSON (`content`) instead of by a style. */
const schemaOf = ({
  value,
  file,
}: Located<JsonObject>): { readonly schema: Located<JsonValue | undefined>; readonly json: boolean } => {
  const content = ownMember(value, "content");
  const [type] = isRecord(content) ? Object.keys(content as JsonObject) : [];
  if (type === undefined) return { schema: { value: ownMember(value, "schema"), file }, json: false };
  return { schema: { value: ownMember(ownMember(content, type), "schema"), file }, json: true };
};

const writtenOf = (name: string, place: string, argument: string, value: JsonObject, json: boolean): JsonObject => ({
  name,
  in: place,
  ...(argument === name ? {} : { argument }),
  ...(typeof value.style === "string" && STYLES.has(value.style) ? { style: value.style } : {}),
  ...(typeof value.explode === "boolean" ? { explode: value.explode } : {}),
  ...(value.allowReserved === true ? { allow_reserved: true } : {}),
  ...(json ? { json: true } : {}),
});

const isOfCredential = (auth: HttpAuth | undefined, place: string, name: string): boolean =>
  auth !== undefined && "name" in auth && auth.kind === place && auth.name.toLowerCase() === name.toLowerCase();

const isNoArgument = (place: string, name: string, required: boolean): boolean => {
  if (place !== "header") return false;
  if (IGNORED.has(name.toLowerCase())) return true;
  const isOdd = OF_THE_CONNECTION.test(name.toLowerCase()) || !HEADER_NAME.test(name);
  if (isOdd && required) throw badRequest(`it needs the header ${shown(name)}, which a request cannot set`);
  return isOdd;
};

const freeName = (name: string, place: string, taken: ReadonlySet<string>): string => {
  for (let free = name, count = 1; ; count += 1) {
    if (!taken.has(free)) return free;
    free = `${place}_${name}${count === 1 ? "" : `_${count}`}`;
  }
};

const placesIn = (path: string): readonly string[] => [...path.matchAll(/\{([^{}]*)\}/gu)].map(([, name = ""]) => name);

export const planParameters = (
  listed: ListedOperation,
  references: References,
  converter: SchemaConverter,
  auth: HttpAuth | undefined,
): PlannedParameters => {
  const inPath = placesIn(listed.path);
  const parameters: PlannedParameter[] = [];
  const taken = new Set<string>();
  let idempotencyHeader: string | undefined;
  const add = (name: string, place: string, given: Located<JsonObject>): void => {
    const required = place === "path" || given.value.required === true;
    if (place === "header" && name.toLowerCase() === IDEMPOTENCY) {
      idempotencyHeader = name;
      return;
    }
    if (isOfCredential(auth, place, name) || isNoArgument(place, name, required)) return;
    const { schema, json } = schemaOf(given);
    const argument = freeName(name, place, taken);
    taken.add(argument);
    parameters.push({
      argument,
      converted: converter.convert(schema),
      description: cleanText(given.value.description, MAX_DESCRIPTION),
      required,
      written: writtenOf(name, place, argument, given.value, json),
    });
  };
  for (const given of merge(references, listed)) {
    const { name, in: place } = given.value;
    if (
      typeof name !== "string" ||
      name === "" ||
      name.length > MAX_NAME ||
      typeof place !== "string" ||
      !PLACES.has(place)
    )
      throw badRequest("one of its parameters has no readable name or place");
    if (place !== "path" || inPath.includes(name)) add(name, place, given);
    if (parameters.length > MAX_PARAMETERS) throw badRequest(`it has more than ${MAX_PARAMETERS} parameters`);
  }
  // A name in the path that the document forgot to declare is a text.
  const declared = new Set(
    parameters.filter(({ written }) => written.in === "path").map(({ written }) => written.name),
  );
  for (const name of inPath) {
    if (name === "") throw badRequest("its path has a place without a name");
    if (!declared.has(name)) add(name, "path", { value: { schema: { type: "string" } }, file: listed.operation.file });
  }
  return { parameters, idempotencyHeader };
};
