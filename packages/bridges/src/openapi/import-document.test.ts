import type { JsonObject } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { documentWith, importSample, onlyTool } from "../../test/import-sample.ts";

const text = { type: "string" };
const namesOf = ({ tools }: ReturnType<typeof importSample>): readonly string[] =>
  tools.map(({ definition }) => definition.tool_name);

describe("an operation", () => {
  test("[API-OPENAPI-1] becomes a tool with its parameters, its body and all that the executor needs", () => {
    const document = documentWith(
      {
        "/pets/{id}": {
          parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
          patch: {
            operationId: "updatePet",
            summary: "Update a pet",
            description: "Changes what is given.",
            tags: ["pets"],
            parameters: [
              { name: "dry_run", in: "query", description: "Only check", schema: { type: "boolean" } },
              {
                name: "ids",
                in: "query",
                style: "pipeDelimited",
                explode: false,
                schema: { type: "array", items: text },
              },
              { name: "Accept", in: "header", schema: text },
              { name: "Idempotency-Key", in: "header", required: true, schema: text },
            ],
            requestBody: {
              required: true,
              content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } },
            },
            responses: { 200: { description: "ok", content: { "application/json": {} } } },
          },
        },
      },
      {
        components: {
          schemas: {
            Pet: {
              type: "object",
              properties: { name: text, id: { ...text, readOnly: true } },
              required: ["name", "id"],
            },
          },
        },
      },
    );
    const { definition } = onlyTool(importSample(document));
    expect(definition).toEqual({
      tool_name: "api__updatePet",
      description: "Update a pet\n\nChanges what is given.",
      parameters: {
        type: "object",
        properties: {
          id: { type: "integer" },
          dry_run: { description: "Only check", type: "boolean" },
          ids: { type: "array", items: { type: "string" } },
          body: { $ref: "#/$defs/Pet" },
        },
        required: ["id", "body"],
        additionalProperties: false,
        $defs: { Pet: { properties: { name: text }, type: "object", required: ["name"] } },
      },
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.openapi.api__updatePet",
      after_execution: "suspend",
      options: {
        tags: ["pets"],
        openapi: {
          source: "api",
          operation_id: "updatePet",
          method: "patch",
          base_url: "https://api.example.com/v1",
          path: "/pets/{id}",
          allow_hosts: ["api.example.com"],
          accept: "application/json",
          parameters: [
            { name: "id", in: "path" },
            { name: "dry_run", in: "query" },
            { name: "ids", in: "query", style: "pipeDelimited", explode: false },
          ],
          body: { argument: "body", content_type: "application/json" },
          idempotency_header: "Idempotency-Key",
        },
      },
    });
  });

  test.each([
    ["get", "safe"],
    ["head", "safe"],
    ["put", "safe"],
    ["delete", "safe"],
    ["post", undefined],
    ["patch", undefined],
  ])("[API-OPENAPI-2] %s is retried: %s", (method, retry) => {
    const { definition } = onlyTool(importSample(documentWith({ "/a": { [method]: {} } })));
    expect(definition.options.retry).toBe(retry);
  });

  test("arguments of one name have names of their own, and a body beside a parameter called body", () => {
    const parameters = [
      { name: "id", in: "path", schema: text },
      { name: "id", in: "query", schema: text },
      { name: "id", in: "header", schema: text },
      { name: "body", in: "query", schema: text },
    ];
    const requestBody = { content: { "text/plain": { schema: text } } };
    const { parameters: schema, openapi } = onlyTool(
      importSample(documentWith({ "/{id}": { post: { parameters, requestBody } } })),
    );
    expect(new Set(Object.keys(schema.properties as JsonObject))).toEqual(
      new Set(["id", "query_id", "header_id", "body", "request_body"]),
    );
    expect(openapi.body).toEqual({ argument: "request_body", content_type: "text/plain" });
  });

  test.each([
    ["application/x-www-form-urlencoded", {}],
    ["multipart/form-data", { file: { file: true }, files: { file: true } }],
  ])("the files of a form of %s", (type, encoding) => {
    const isForm = type === "multipart/form-data";
    const bytes = { type: "string", format: "binary" };
    const properties = isForm ? { note: text, file: bytes, files: { type: "array", items: bytes } } : { note: text };
    const requestBody = { content: { [type]: { schema: { type: "object", properties } } } };
    const { openapi } = onlyTool(importSample(documentWith({ "/a": { post: { requestBody } } })));
    expect(openapi.body).toEqual({ argument: "body", content_type: type, ...(isForm ? { encoding } : {}) });
  });

  test("a path parameter that is not declared is a text", () => {
    expect(onlyTool(importSample(documentWith({ "/a/{id}": { get: {} } }))).parameters.properties).toEqual({
      id: text,
    });
  });
});

describe("names", () => {
  const get = (operationId?: string) => ({ get: operationId === undefined ? {} : { operationId } });
  test.each([
    ["/a", "repos/get-content", "api__repos_get-content"],
    ["/a", "<b>bold</b>", "api__b_bold_b"],
    ["/a/{id}", undefined, "api__get_a_id"],
    ["/a", "__proto__", "api__proto"],
    ["/a", "x".repeat(80), `api__${"x".repeat(50)}_`],
  ])("%s with operationId %j is %s", (path, id, name) => {
    const [given = ""] = namesOf(importSample(documentWith({ [path]: get(id) })));
    expect(given.startsWith(name)).toBe(true);
    expect(given.length).toBeLessThanOrEqual(64);
  });

  test("[HTTP-3-1] where two operations would have one name both are named after their paths, in any order, and it is said", () => {
    const paths = { "/a": get("same.id"), "/b": get("same/id"), "/c": get("other") };
    const turned = Object.fromEntries(Object.entries(paths).reverse());
    const [one, other] = [importSample(documentWith(paths)), importSample(documentWith(turned))];
    expect([...namesOf(one)].sort()).toEqual(["api__get_a", "api__get_b", "api__other"]);
    expect([...namesOf(other)].sort()).toEqual([...namesOf(one)].sort());
    expect(one.notes).toEqual(["GET /a, GET /b share the name api__same_id and are named after their paths"]);
  });

  test("what still collides gets a hash", () => {
    const names = namesOf(importSample(documentWith({ "/jobs": get(), "/jobs/": get() })));
    expect(names).toEqual([
      expect.stringMatching(/^api__get_jobs_[0-9a-f]{8}$/),
      expect.stringMatching(/^api__get_jobs_/),
    ]);
    expect(new Set(names).size).toBe(2);
  });

  test("[API-OPENAPI-1] an empty prefix leaves the operation's name alone", () => {
    expect(namesOf(importSample(documentWith({ "/a": get("list") }), { prefix: "" }))).toEqual(["list"]);
  });

  test("[API-OPENAPI-3] only what the patterns name is imported", () => {
    const paths = { "/a": get("getPet"), "/b": get("listPets"), "/c": get("pets/remove"), "/d": get("getPetPhoto") };
    const outcome = importSample(documentWith(paths), { operations: ["get*", "pets/*", "*Nothing*"] });
    expect(namesOf(outcome)).toEqual(["api__getPet", "api__pets_remove", "api__getPetPhoto"]);
    expect(outcome.leftOut).toEqual(["api__listPets"]);
    expect(namesOf(importSample(documentWith(paths), { operations: ["getPet"] }))).toEqual(["api__getPet"]);
  });
});

describe("servers", () => {
  const op = { get: { operationId: "a" } };
  const baseOf = (document: JsonObject, options: Parameters<typeof importSample>[1]) =>
    onlyTool(importSample(document, options)).openapi.base_url;
  const servers = [
    { url: "https://{region}.example.com/{v}/", variables: { region: { default: "eu" }, v: { default: "v2" } } },
  ];

  test.each([
    ["the first server, with its variables", { servers }, {}, { baseUrl: undefined }, "https://eu.example.com/v2"],
    ["base_url instead of it", { servers }, {}, {}, "https://api.example.com/v1"],
    [
      "a relative server",
      { servers: [{ url: "../v3" }] },
      {},
      { baseUrl: undefined, documentUrl: "https://docs.example.com/a/b/spec.json" },
      "https://docs.example.com/a/v3",
    ],
    [
      "no server",
      {},
      {},
      { baseUrl: undefined, documentUrl: "https://docs.example.com/spec.json" },
      "https://docs.example.com",
    ],
    [
      "the operation's own",
      { servers },
      { servers: [{ url: "https://upload.example.com" }] },
      {},
      "https://upload.example.com",
    ],
  ])("%s", (_what, root, own, options, base) => {
    const document = documentWith({ "/a": { get: { operationId: "a", ...own } } }, root as JsonObject);
    expect(baseOf(document, options)).toBe(base);
  });

  test.each([
    ["a relative server of a file", { servers: [{ url: "/v1" }] }, "set base_url"],
    ["a variable without a default", { servers: [{ url: "https://{x}/" }] }, "set base_url"],
    ["credentials", { servers: [{ url: "https://me:hunter2@a.example" }] }, "a user or a password"],
    ["another scheme", { servers: [{ url: "file:///etc/passwd" }] }, "not an http"],
  ])("[API-OPENAPI-4] %s is refused", (_what, root, why) => {
    const { refused, tools } = importSample(documentWith({ "/a": op }, root as JsonObject), { baseUrl: undefined });
    expect(tools).toEqual([]);
    expect(refused[0]?.reason).toContain(why);
    expect(JSON.stringify(refused)).not.toContain("hunter2");
  });

  test("[SEC-13-1] the hosts that may be asked are the configuration's, never those of a fetched document", () => {
    const document = documentWith({ "/a": op }, { servers: [{ url: "https://evil.example" }] });
    const asked: unknown[] = [];
    const whyRefused = (address: string, hosts: readonly string[]) => {
      asked.push([address, hosts]);
      return hosts.includes(new URL(address).hostname) ? undefined : "not in the list";
    };
    const url = { baseUrl: undefined, documentUrl: "https://docs.example.com/spec.json", whyRefused };
    expect(importSample(document, url).refused).toEqual([
      { operation: "GET /a", reason: "not in the list", toolName: "api__a" },
    ]);
    expect(asked).toEqual([["https://evil.example", ["docs.example.com"]]]);
    expect(importSample(document, { ...url, allowHosts: ["evil.example"] }).tools).toHaveLength(1);
  });
});

describe("schemas", () => {
  const schemaOf = (schema: unknown, more: JsonObject = {}, options = {}) => {
    const parameters = [{ name: "p", in: "query", schema }] as unknown as JsonObject[];
    const { parameters: all } = onlyTool(importSample(documentWith({ "/a": { get: { parameters } } }, more), options));
    return { p: (all.properties as JsonObject).p, defs: all.$defs };
  };

  test.each([
    [
      { type: "string", nullable: true, enum: ["a"] },
      { type: ["string", "null"], enum: ["a", null] },
    ],
    [{ nullable: true, allOf: [text] }, { anyOf: [{ allOf: [text] }, { type: "null" }] }],
    [
      { type: "integer", minimum: 1, exclusiveMinimum: true },
      { type: "integer", exclusiveMinimum: 1 },
    ],
    [
      { type: "integer", maximum: 9, exclusiveMaximum: false },
      { type: "integer", maximum: 9 },
    ],
    [{ type: "array" }, { type: "array", items: { description: "any JSON value" } }],
    [
      { type: "array", items: {} },
      { type: "array", items: { description: "any JSON value" } },
    ],
    [{ type: "string", pattern: "^(?!x)" }, { type: "string" }],
    [
      { type: "string", pattern: "^a+$" },
      { type: "string", pattern: "^a+$" },
    ],
    [{ type: "file" }, {}],
    [
      { type: "string", example: "x", xml: {}, "x-odd": 1, required: true, description: "a\u202eb" },
      { type: "string", description: "ab" },
    ],
    [undefined, {}],
  ])("3.0: %j becomes %j", (schema, expected) => {
    expect(schemaOf(schema).p).toEqual(expected);
  });

  test.each([
    [
      { type: ["string", "null"], const: "a" },
      { type: ["string", "null"], const: "a" },
    ],
    [{ exclusiveMinimum: 1 }, { exclusiveMinimum: 1 }],
    [
      { $ref: "#/components/schemas/S", description: "mine" },
      { description: "mine", $ref: "#/$defs/S" },
    ],
    [true, {}],
    [
      { type: "array", prefixItems: [text], items: false },
      { prefixItems: [text], items: { description: "any JSON value" }, type: "array" },
    ],
  ])("3.1: %j becomes %j", (schema, expected) => {
    expect(schemaOf(schema, { openapi: "3.1.0", components: { schemas: { S: text } } }).p).toEqual(expected);
  });

  test("[HTTP-3-2] cycles stay references, and a definition holds what its operation needs and no more", () => {
    const Node = {
      type: "object",
      properties: { next: { $ref: "#/components/schemas/Node" }, tag: { $ref: "#/components/schemas/Tag" } },
    };
    const components = { schemas: { Node, Tag: text, Unused: text } };
    expect(schemaOf({ $ref: "#/components/schemas/Node" }, { components })).toEqual({
      p: { $ref: "#/$defs/Node" },
      defs: {
        Node: { properties: { next: { $ref: "#/$defs/Node" }, tag: { $ref: "#/$defs/Tag" } }, type: "object" },
        Tag: text,
      },
    });
  });

  test("[HTTP-3-2] references into files, and from there back", () => {
    const files = {
      "common.yaml": {
        Size: { type: "integer", maximum: { $ref: "#/Max" } },
        Box: { items: { $ref: "#/Size" }, type: "array" },
      },
    };
    const { p, defs } = schemaOf({ $ref: "common.yaml#/Box" }, {}, { files });
    const [box = "", size = ""] = Object.keys(defs as JsonObject);
    expect(p).toEqual({ $ref: `#/$defs/${box}` });
    expect(defs).toEqual({
      [box]: { items: { $ref: `#/$defs/${size}` }, type: "array" },
      [size]: expect.objectContaining({ type: "integer" }),
    });
  });
});

describe("[HTTP-3-2] anchors", () => {
  const withBody = (schema: JsonObject, schemas: JsonObject = {}) =>
    importSample(
      documentWith(
        {
          "/a": {
            post: { operationId: "a", requestBody: { content: { "application/json": { schema } } }, responses: {} },
          },
        },
        { openapi: "3.1.0", components: { schemas } },
      ),
    );

  test("a reference by anchor leads to the schema that has it, also inside a list, and not to a value that looks like one", () => {
    const { definition } = onlyTool(
      withBody(
        { type: "object", properties: { pet: { $ref: "#pet" }, also: { $ref: "#/components/schemas/Pet" } } },
        {
          Pet: { $anchor: "pet", type: "object", properties: { default: { $ref: "#odd" } } },
          Other: { allOf: [{ $anchor: "odd", type: "integer" }], example: { $anchor: "pet" } },
        },
      ),
    );
    expect(definition.parameters).toMatchObject({
      properties: {
        body: { properties: { pet: { $ref: "#/$defs/Pet" }, also: { $ref: "#/$defs/Pet" } } },
      },
      $defs: { Pet: { properties: { default: { $ref: expect.stringMatching(/^#\/\$defs\/0_/u) } } } },
    });
  });

  test.each([
    ["that no schema has", {}],
    ["that two schemas have", { A: { $anchor: "pet", type: "string" }, B: { $anchor: "pet", type: "string" } }],
  ])("an anchor %s is named with its operation; nothing else suffers", (why, schemas) => {
    const { tools, refused } = withBody({ $ref: "#pet" }, schemas);
    expect([tools, refused]).toEqual([[], [expect.objectContaining({ reason: expect.stringContaining(why) })]]);
  });
});
