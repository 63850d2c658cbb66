// The body of one operation: which of its media types is sent, and the schema of the argument that holds it. A file is given as
// `{ base64, filename?, content_type? }`, because arguments are JSON.

import { badRequest, isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { isJsonType } from "../http/write-body.ts";
import { cleanText } from "./clean-text.ts";
import type { ConvertedSchema, SchemaConverter } from "./convert-schema.ts";
import { type ListedOperation, objectAt } from "./list-operations.ts";
import { type Located, ownMember, type References, shown } from "./references.ts";

export interface PlannedBody {
  readonly schema: ConvertedSchema;
  readonly description: string;
  readonly required: boolean;
  readonly contentType: string;
  /** As `options.openapi.body.encoding` has it. */
  readonly encoding: JsonObject;
}

const FILE: JsonObject = {
  type: "object",
  description: "A file",
  properties: {
    base64: { type: "string", description: "The bytes of the file, as base64" },
    filename: { type: "string" },
    content_type: { type: "string" },
  },
  required: ["base64"],
  additionalProperties: false,
};
const FILE_SIZE = 4;

const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data";
const MAX_DESCRIPTION = 1_000;
const MAX_TYPE = 128;

const kindOf = (type: string): string => type.split(";")[0]?.trim().toLowerCase() ?? "";

const isText = (kind: string): boolean =>
  kind.startsWith("text/") ||
  /^application\/(?:[\w.-]+\+)?(?:xml|yaml|x-yaml|ndjson|x-ndjson|jwt|graphql|sql|javascript)$/u.test(kind);

const MEDIA_TYPE = /^[\w.+*-]+\/[\w.+*-]+(?:; ?[\w.-]+="?[\w./:-]+"?)*$/u;

/** The one that arguments describe best: JSON, then forms, then a text, then bytes. */
const chooseType = (types: readonly string[]): string | undefined => {
  const usable = types.filter((type) => type.length <= MAX_TYPE && MEDIA_TYPE.test(type));
  const first = (test: (kind: string) => boolean): string | undefined => usable.find((type) => test(kindOf(type)));
  return (
    first((kind) => kind === "application/json") ??
    first(isJsonType) ??
    first((kind) => kind === FORM) ??
    first((kind) => kind === MULTIPART) ??
    first((kind) => kind === "*/*" || kind === "application/*") ??
    first(isText) ??
    usable[0]
  );
};

const isBytes = (value: JsonValue | undefined): boolean => {
  if (!isRecord(value)) return false;
  const { format, contentMediaType, contentEncoding, type } = value as JsonObject;
  return (
    (type === "string" && (format === "binary" || format === "byte")) ||
    (typeof contentMediaType === "string" && contentEncoding === undefined)
  );
};

const EMPTY: ReadonlyMap<string, Located> = new Map();

const styleOf = (given: JsonValue | undefined): JsonObject => {
  if (!isRecord(given)) return {};
  const { style, explode, contentType } = given as JsonObject;
  return {
    ...(typeof style === "string" && ["form", "spaceDelimited", "pipeDelimited", "deepObject"].includes(style)
      ? { style }
      : {}),
    ...(typeof explode === "boolean" ? { explode } : {}),
    ...(typeof contentType === "string" && contentType.length <= MAX_TYPE && !contentType.includes(",")
      ? { content_type: contentType }
      : {}),
  };
};

interface Form {
  readonly schema: Located<JsonObject>;
  readonly encoding: JsonObject;
}

/** A form's own schema, with files in the place of bytes. */
const planForm = (media: Located<JsonObject>, references: References): Form | undefined => {
  const schema = objectAt(references, { value: ownMember(media.value, "schema"), file: media.file });
  const properties = ownMember(schema?.value, "properties");
  if (schema === undefined || !isRecord(properties)) return undefined;
  const declared = ownMember(media.value, "encoding");
  const encoding: Record<string, JsonValue> = {};
  const members = Object.entries(properties as JsonObject).map(([name, member]): [string, JsonValue] => {
    const { value } = references.follow({ value: member, file: schema.file });
    const { value: item } = references.follow({ value: ownMember(value, "items"), file: schema.file });
    const isFile = isBytes(value);
    const isFiles = !isFile && isBytes(item);
    const style = { ...styleOf(ownMember(declared, name)), ...(isFile || isFiles ? { file: true } : {}) };
    if (Object.keys(style).length > 0) encoding[name] = style;
    return [name, isFile ? FILE : isFiles ? { type: "array", items: FILE } : member];
  });
  const own = { ...schema.value, properties: Object.fromEntries(members) };
  return { schema: { value: own, file: schema.file }, encoding: Object.fromEntries(Object.entries(encoding)) };
};

export const planBody = (
  { operation }: ListedOperation,
  references: References,
  converter: SchemaConverter,
): PlannedBody | undefined => {
  const given = objectAt(references, { value: ownMember(operation.value, "requestBody"), file: operation.file });
  const content = ownMember(given?.value, "content");
  if (given === undefined || !isRecord(content)) return undefined;
  const types = Object.keys(content as JsonObject);
  if (types.length === 0) return undefined;
  const type = chooseType(types);
  if (type === undefined)
    throw badRequest(`the type of its body, ${shown(types.slice(0, 3).join(", "))}, cannot be read`);
  const media = objectAt(references, { value: ownMember(content, type), file: given.file }) ?? {
    value: {},
    file: given.file,
  };
  const about = {
    description: cleanText(given.value.description, MAX_DESCRIPTION),
    required: given.value.required === true,
  };
  const schema: Located<JsonValue | undefined> = { value: ownMember(media.value, "schema"), file: media.file };
  const kind = kindOf(type);
  if (kind === FORM || kind === MULTIPART) {
    const form = planForm(media, references);
    const converted = converter.convert(form?.schema ?? schema);
    return { ...about, schema: converted, contentType: kind, encoding: form?.encoding ?? {} };
  }
  const isAny = kind === "*/*" || kind === "application/*";
  const { value } = references.follow(schema);
  if (isJsonType(kind) || (isAny && !isBytes(value)))
    return {
      ...about,
      schema: converter.convert(schema),
      contentType: isAny ? "application/json" : type,
      encoding: {},
    };
  if (isText(kind)) {
    const text = { type: "string", description: `The body as text (${kind})` };
    return { ...about, schema: { schema: text, needs: EMPTY, size: 1 }, contentType: type, encoding: {} };
  }
  const contentType = isAny ? "application/octet-stream" : type;
  return { ...about, schema: { schema: FILE, needs: EMPTY, size: FILE_SIZE }, contentType, encoding: {} };
};
