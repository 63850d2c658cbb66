// The description of the API is a valid OpenAPI document, its page loads nothing, and a client made from it compiles and works.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { routes } from "@toolplane/server/internal";
import { describeRoutes } from "@toolplane/server/reference";
import openapiTypes, { astToString } from "openapi-typescript";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { faultOf } from "./check-answers.ts";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
let directory: string;
beforeAll(async () => {
  http = await startHttpStack();
  // Beside the sources, so that the compiler finds the libraries of the repository.
  directory = mkdtempSync(join(import.meta.dirname, "openapi-client-"));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await http[Symbol.asyncDispose]();
});

/** Served beside the table. */
const BESIDE = ["GET /health", "GET /live", "GET /metrics", "POST /session", "DELETE /session"];
const document = describeRoutes(routes);
const copy = () => JSON.parse(JSON.stringify(document));

test("[API-openapi] the document is valid OpenAPI 3.1 and has every route", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(copy());
  expect([valid, errors, validator.version]).toEqual([true, undefined, "3.1"]);
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = routes.map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z]+)/g, "{$1}")}`);
  expect(described.sort()).toEqual([...served, ...BESIDE].sort());
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
  expect(new Set(ids).size).toBe(ids.length);
});

test("[API-openapi] what is not valid is seen to be", async () => {
  const broken = copy();
  broken.paths["/whoami"].get.responses["200"] = { content: 7 };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test("[API-openapi] every role may read it, and nobody without a token", async () => {
  expect((await http.raw("/openapi.json")).status).toBe(401);
  const answer = await http.raw("/openapi.json", { headers: { authorization: `Bearer ${await http.toolToken()}` } });
  expect([answer.status, await answer.json()]).toEqual([200, copy()]);
});

test("[API-docs] the page is made from the document, runs nothing and asks no other place", async () => {
  const answer = await http.raw("/docs", { headers: { authorization: `Bearer ${http.admin}` } });
  const page = await answer.text();
  expect(answer.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'none'$/,
  );
  expect(page).not.toMatch(/<script|<img|<link|<iframe|\bsrc=|@import|url\(|href="(?!#|\/openapi\.json)/);
  for (const { method, path } of routes)
    expect(page).toContain(`${method}</span><code>${path.replaceAll(/:([a-z]+)/g, "{$1}")}</code>`);
});

test("[API-answers] an answer that is not as described is found", async () => {
  const route = routes.find(({ path }) => path === "/whoami") ?? expect.unreachable("no route");
  const body = { role: "admin", project: null, actor: null, targets: [], projects: [] };
  expect(await faultOf(route, Response.json(body))).toBeUndefined();
  expect(await faultOf(route, Response.json({ ...body, role: "king" }))).toContain("role");
  expect(await faultOf(route, Response.json({ ...body, more: 1 }))).toContain("more");
  expect(await faultOf(route, Response.json(body, { status: 201 }))).toContain("is not described");
});

const CLIENT = `
import type { paths } from "./schema.ts";
type Post = paths["/projects/{project}/calls"]["post"];
export type Asked = Post["requestBody"]["content"]["application/json"];
export type Made = Post["responses"][200]["content"]["application/json"];
export const makeCall = async (send: (path: string, body: string) => Promise<Response>, asked: Asked): Promise<Made> => {
  const answer = await send("/projects/demo/calls", JSON.stringify(asked));
  return (await answer.json()) as Made;
};
export const callId = ({ tool_call_id }: Made): string => tool_call_id;
`;

/** What the compiler says about a client of the document. */
const compile = (client: string): readonly string[] => {
  const file = join(directory, "client.ts");
  writeFileSync(file, client);
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2024,
    lib: ["lib.es2024.d.ts", "lib.dom.d.ts"],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    types: [],
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
};

test("[API-openapi-client] a client made from the document compiles, and makes a call", async () => {
  writeFileSync(join(directory, "schema.ts"), astToString(await openapiTypes(copy())));
  expect(readFileSync(join(directory, "schema.ts"), "utf8")).toContain('"/projects/{project}/calls"');
  expect(compile(CLIENT)).toEqual([]);
  const { makeCall, callId } = (await import(join(directory, "client.ts"))) as {
    readonly makeCall: (send: unknown, asked: unknown) => Promise<{ readonly status: string }>;
    readonly callId: (made: unknown) => string;
  };
  const send = (path: string, body: string) =>
    http.raw(path, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${http.admin}`, "content-type": "application/json" },
    });
  const made = await makeCall(send, { tool_name: "safe" });
  expect([made.status, callId(made)]).toEqual(["queued", expect.stringMatching(/^[0-9a-f]{32}$/)]);
  // The same client with a field that no answer has.
  expect(compile(CLIENT.replace("{ tool_call_id }", "{ call_id: tool_call_id }"))).toEqual([
    expect.stringContaining("call_id"),
  ]);
});
