// From one operation of a document to one tool definition. The definition holds all that the executor needs.

import { badRequest, isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { toolSubjectTemplate } from "@toolplane/protocol/registry";
import { leadsUpwards } from "../http/path-rules.ts";
import type { HttpAuth } from "../http/plan-auth.ts";
import { isJsonType } from "../http/write-body.ts";
import { cleanText } from "./clean-text.ts";
import type { ConvertedSchema, SchemaConverter } from "./convert-schema.ts";
import { objectAt } from "./list-operations.ts";
import { type NamedOperation, placeOf } from "./name-operations.ts";
import { type PlannedBody, planBody } from "./plan-body.ts";
import { type PlannedParameters, planParameters } from "./plan-parameters.ts";
import { ownMember, type References } from "./references.ts";

export interface DefineOptions {
  /** The name of the API in the configuration. */
  readonly source: string;
  readonly baseUrl: string;
  readonly allowHosts: readonly string[];
  readonly auth: HttpAuth | undefined;
  readonly authOption: JsonObject | undefined;
  readonly timeoutSeconds: number | undefined;
}

/** May be sent again when it is not known whether it was received. */
const IDEMPOTENT: ReadonlySet<string> = new Set(["get", "head", "put", "delete"]);
const WITHOUT_BODY: ReadonlySet<string> = new Set(["get", "head"]);
const MAX_DESCRIPTION = 4_000;
const MAX_TAGS = 8;
const MAX_ACCEPTED = 5;

const describeOperation = (operation: NamedOperation): string => {
  const { summary, description, deprecated } = operation.operation.value;
  const parts = [cleanText(summary, MAX_DESCRIPTION), cleanText(description, MAX_DESCRIPTION)];
  const [first = "", second = ""] = parts;
  const texts = first === "" || second.startsWith(first) ? [second] : [first, second];
  const text = texts.filter((one) => one !== "").join("\n\n") || cleanText(placeOf(operation), MAX_DESCRIPTION);
  return deprecated === true ? `Deprecated. ${text}` : text;
};

/** JSON where the API has it, else what it has. */
const acceptedTypes = ({ operation }: NamedOperation, references: References): string => {
  const responses = ownMember(operation.value, "responses");
  const good = isRecord(responses)
    ? Object.entries(responses as JsonObject).filter(([status]) => /^(?:2\d\d|2XX|default)$/iu.test(status))
    : [];
  const types = good.flatMap(([, value]) => {
    const content = ownMember(objectAt(references, { value, file: operation.file })?.value, "content");
    return isRecord(content) ? Object.keys(content as JsonObject) : [];
  });
  const readable = [...new Set(types)].filter((type) => /^[\w.+*/-]{3,100}$/u.test(type));
  if (readable.length === 0) return "*/*";
  const json = readable.find((type) => type === "application/json") ?? readable.find(isJsonType);
  return json ?? readable.slice(0, MAX_ACCEPTED).join(", ");
};

const describedBy = ({ schema }: ConvertedSchema, description: string): JsonValue =>
  description === "" || !isRecord(schema) || Object.hasOwn(schema, "description")
    ? schema
    : { description, ...(schema as JsonObject) };

interface Argument {
  readonly name: string;
  readonly schema: JsonValue;
  readonly converted: ConvertedSchema;
  readonly required: boolean;
}

const argumentsOf = (
  { parameters }: PlannedParameters,
  body: PlannedBody | undefined,
  bodyName: string,
): readonly Argument[] => [
  ...parameters.map(({ argument, converted, description, required }) => ({
    name: argument,
    schema: describedBy(converted, description),
    converted,
    required,
  })),
  ...(body === undefined
    ? []
    : [
        {
          name: bodyName,
          schema: describedBy(body.schema, body.description),
          converted: body.schema,
          required: body.required,
        },
      ]),
];

const parametersSchema = (list: readonly Argument[], converter: SchemaConverter): JsonObject => {
  const required = list.filter((one) => one.required).map(({ name }) => name);
  const defs = converter.defsOf(list.map(({ converted }) => converted));
  return {
    type: "object",
    properties: Object.fromEntries(list.map(({ name, schema }) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...(Object.keys(defs).length === 0 ? {} : { $defs: defs }),
  };
};

const tagsOf = ({ operation }: NamedOperation): readonly string[] => {
  const { tags } = operation.value;
  const texts = Array.isArray(tags) ? (tags as readonly JsonValue[]).map((tag) => cleanText(tag, 60)) : [];
  return [...new Set(texts)].filter((tag) => tag !== "").slice(0, MAX_TAGS);
};

const NOT_OF_A_PATH = /[\s\p{Cc}\\?]/u;

/** The upload of a definition; throws `bad_request` with the reason when the operation cannot be one. */
export const defineOperation = (
  operation: NamedOperation,
  references: References,
  converter: SchemaConverter,
  { source, baseUrl, allowHosts, auth, authOption, timeoutSeconds }: DefineOptions,
): JsonObject => {
  const { method, path, operationId, toolName } = operation;
  if (method === "trace") throw badRequest("TRACE requests are not sent");
  if (NOT_OF_A_PATH.test(path)) throw badRequest("its path has a query or a character that a path cannot have");
  if (leadsUpwards(path)) throw badRequest("a part of its path is . or .. and leads elsewhere");
  const planned = planParameters(operation, references, converter, auth);
  const body = WITHOUT_BODY.has(method) ? undefined : planBody(operation, references, converter);
  const bodyName = planned.parameters.some(({ argument }) => argument === "body") ? "request_body" : "body";
  const tags = tagsOf(operation);
  return {
    tool_name: toolName,
    description: describeOperation(operation),
    parameters: parametersSchema(argumentsOf(planned, body, bodyName), converter),
    target_subject: toolSubjectTemplate("openapi", toolName),
    after_execution: "suspend",
    options: {
      ...(IDEMPOTENT.has(method) ? { retry: "safe" } : {}),
      ...(auth?.kind === "query" ? { secrets_in_url: true } : {}),
      ...(timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds }),
      ...(tags.length === 0 ? {} : { tags }),
      openapi: {
        source,
        ...(operationId === undefined ? {} : { operation_id: operationId.slice(0, 256).toWellFormed() }),
        method,
        base_url: baseUrl,
        // Documents tell operations of one path apart by a fragment, which is never sent.
        path: path.split("#")[0] ?? "",
        allow_hosts: allowHosts,
        accept: acceptedTypes(operation, references),
        parameters: planned.parameters.map(({ written }) => written),
        ...(body === undefined
          ? {}
          : {
              body: {
                argument: bodyName,
                content_type: body.contentType,
                ...(Object.keys(body.encoding).length === 0 ? {} : { encoding: body.encoding }),
              },
            }),
        ...(planned.idempotencyHeader === undefined ? {} : { idempotency_header: planned.idempotencyHeader }),
        ...(authOption === undefined ? {} : { auth: authOption }),
      },
    },
  };
};
