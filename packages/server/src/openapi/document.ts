// The OpenAPI document, made from the table of routes: nothing is said here that the table does not say.

import type { z } from "zod";
import { type Answers, JSON_TYPE, mediaOf, problemBody } from "../http/answers.ts";
import type { Route } from "../http/route.ts";
import { createSchemaWriter, type JsonSchema, type SchemaWriter } from "./json-schema.ts";
import { pathParams, templateOf } from "./path-params.ts";

/** What of a route is described. A route without roles is public. */
export type Described = Pick<
  Route,
  "method" | "path" | "summary" | "body" | "query" | "answers" | "shownBody" | "isUpload" | "headers"
> &
  Partial<Pick<Route, "roles">>;

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly "x-roles": readonly string[];
  readonly security?: readonly [];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Content & { readonly required: boolean };
  readonly responses: Readonly<
    Record<string, (Content & { readonly description: string }) | { readonly $ref: string }>
  >;
}

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
    readonly securitySchemes: Readonly<Record<string, JsonSchema>>;
  };
}

const SAID: Readonly<Record<string, string>> = {
  200: "Done.",
  201: "Made.",
  202: "Accepted; it goes on.",
  204: "Done; there is nothing to say.",
  503: "Not now.",
};

const UPLOAD_TYPES = [JSON_TYPE, "application/yaml", "text/yaml"] as const;
const FORM: JsonSchema = {
  type: "object",
  properties: { file: { type: "string", description: "The document as JSON or YAML." } },
  required: ["file"],
};

/** `post_projects_project_calls`: stable as long as the path is. */
const operationIdOf = ({ method, path }: Described): string =>
  [method.toLowerCase(), ...path.split(/[/:.-]+/).filter(Boolean)].join("_");

/** The part of the API a route belongs to: the first word after the project. */
export const tagOf = (path: string): string => {
  const words = path.split("/").filter((part) => part !== "" && !part.startsWith(":"));
  return (words[0] === "projects" ? words[1] : undefined) ?? words[0] ?? "";
};

const queryOf = (query: z.ZodType, writer: SchemaWriter): readonly Parameter[] => {
  const { properties = {}, required = [] } = writer.write(query, "request") as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(typeof description === "string" ? { description } : {}),
    schema,
  }));
};

const parametersOf = ({ path, query, headers = {} }: Described, writer: SchemaWriter): readonly Parameter[] => [
  ...pathParams(path).map(({ name, description }) => ({
    ...{ name, in: "path" as const, required: true, description },
    schema: { type: "string", minLength: 1 },
  })),
  ...(query === undefined ? [] : queryOf(query, writer)),
  ...Object.entries(headers).map(([name, description]) => ({
    ...{ name, in: "header" as const, required: false, description },
    schema: { type: "string" },
  })),
];

const requestOf = ({ body, shownBody, isUpload }: Described, writer: SchemaWriter): Operation["requestBody"] => {
  const shown = shownBody ?? body;
  if (shown === undefined) return undefined;
  const schema = writer.write(shown, "request");
  const required = isUpload === true || (body !== undefined && !shown.safeParse({}).success);
  if (isUpload !== true) return { required, content: { [JSON_TYPE]: { schema } } };
  const content = Object.fromEntries(UPLOAD_TYPES.map((type) => [type, { schema }]));
  return { required, content: { ...content, "multipart/form-data": { schema: FORM } } };
};

const responsesOf = (answers: Answers, writer: SchemaWriter): Operation["responses"] => {
  const said = Object.entries(answers).map(([status, answer]) => {
    const media = Object.entries(mediaOf(answer)).map(([type, schema]) => [
      type,
      { schema: writer.write(schema, "answer") },
    ]);
    const content = media.length === 0 ? {} : { content: Object.fromEntries(media) as NonNullable<Content["content"]> };
    return [status, { description: SAID[status] ?? "", ...content }] as const;
  });
  return { ...Object.fromEntries(said), default: { $ref: "#/components/responses/Problem" } };
};

const operationOf = (route: Described, writer: SchemaWriter): Operation => {
  const request = requestOf(route, writer);
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    tags: [tagOf(route.path)],
    "x-roles": route.roles ?? [],
    ...(route.roles === undefined ? { security: [] as const } : {}),
    parameters: parametersOf(route, writer),
    ...(request === undefined ? {} : { requestBody: request }),
    responses: responsesOf(route.answers, writer),
  };
};

export const openApiDocument = (routes: readonly Described[], version: string): OpenApiDocument => {
  const writer = createSchemaWriter();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const template = templateOf(route.path);
    paths[template] = { ...paths[template], [route.method.toLowerCase()]: operationOf(route, writer) };
  }
  const problem = writer.write(problemBody, "answer");
  return {
    openapi: "3.1.0",
    info: {
      title: "Toolplane",
      version,
      description:
        "The HTTP API of the plane. `x-roles` are the roles whose tokens may call an operation; an operation without any is public.",
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: writer.components(),
      responses: {
        Problem: {
          description: "Refused or failed, with the status of the error's code.",
          content: { [JSON_TYPE]: { schema: problem } },
        },
      },
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
};
