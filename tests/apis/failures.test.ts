// Every way in which a call of an API tool can fail, as a person meets it on the terminal: `toolplane call`, `calls show` and `why` must
// name the code, say what failed, and advise something about the thing that failed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@toolplane/engine";
import type { JsonObject } from "@toolplane/protocol";
import { createApp, listen, routes } from "@toolplane/server/internal";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runHere } from "../cli/stack.ts";
import { type Answerer, type ApiServer, type ApiWorld, answerJson, openApiWorld, startApiServer } from "./api-world.ts";

const PROJECT = "demo";
const AGAIN = "make it again with: toolplane calls retry ID";
const WORDS = "see the words of the API with: toolplane calls show ID";

let api: ApiServer;
let world: ApiWorld;
let place: string;
let terminal: (args: readonly string[]) => Promise<string>;
let stop: () => Promise<void>;

beforeAll(async () => {
  api = await startApiServer();
  world = await openApiWorld({
    allow: [api.origin],
    grants: [
      { name: "API_TOKEN", projects: [PROJECT], hosts: "any" },
      { name: "UNSET_TOKEN", projects: [PROJECT], hosts: "any" },
      { name: "BOUND_TOKEN", projects: [PROJECT], hosts: ["api.example.com"] },
    ],
    env: { API_TOKEN: "tok-0123456789-canary", BOUND_TOKEN: "bound-0123456789-canary" },
    resolve: async (host) => [host === "inner.example" ? "10.1.2.3" : "127.0.0.1"],
  });
  world.serve();
  const draining = new AbortController();
  const app = createApp({
    engine: () => world.engine,
    routes,
    log: silentLog,
    health: async () => ({ ok: true, body: { status: "ok" } }),
    hosts: [],
    draining: draining.signal,
  });
  const served = await listen({ app, host: "127.0.0.1", port: 0 });
  const { secret } = await world.engine.tokens.create({ role: "admin" });
  place = mkdtempSync(join(tmpdir(), "toolplane-failures-"));
  const env = { TOOLPLANE_URL: `http://${served.address}`, TOOLPLANE_TOKEN: secret };
  terminal = async (args) => {
    const { out, err } = await runHere(args, { cwd: place, env });
    return `${out}${err}`.trim();
  };
  stop = async () => {
    draining.abort();
    await served.close(0);
  };
});
afterAll(async () => {
  await stop?.();
  await world?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
  if (place !== undefined) rmSync(place, { recursive: true, force: true });
});
beforeEach(() => {
  api.answer = answerJson({ ok: true });
});

const page: Answerer = (_asked, response) =>
  void response.writeHead(502, { "content-type": "text/html" }).end(`<html>${"x".repeat(50_000)}`);
const large: Answerer = (_asked, response) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(Buffer.alloc(5 * 1024 * 1024, " "));
const drip: Answerer = (_asked, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 50);
  response.on("close", () => clearInterval(timer));
};
const cut: Answerer = (_asked, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
  response.write('{"a":');
  setImmediate(() => response.socket?.destroy());
};
const sentTo =
  (location: string): Answerer =>
  (_asked, response) =>
    void response.writeHead(302, { location }).end();

interface Failure {
  readonly openapi?: JsonObject;
  readonly answer?: Answerer;
  readonly args?: JsonObject;
  readonly code: string;
  /** What the message says. */
  readonly says: string;
  /** The advice, with ID for the call's. */
  readonly todo: string;
}

const status = (code: number, headers: Readonly<Record<string, string>> = {}) =>
  answerJson({ message: "its own words" }, code, headers);

const FAILURES: Readonly<Record<string, Failure>> = {
  "an address that the operator did not allow": {
    openapi: { base_url: "http://127.0.0.1:9" },
    code: "auth_failed",
    says: 'http://127.0.0.1:9 may not be asked: it is a loopback address; the operator of the plane allows it with egress.allow: ["http://127.0.0.1:9"] in toolplane.yaml',
    todo: `correct that, then ${AGAIN}`,
  },
  "a name that resolves to a private address": {
    openapi: { base_url: "https://inner.example" },
    code: "auth_failed",
    says: "https://inner.example may not be asked: it resolves to",
    todo: `correct that, then ${AGAIN}`,
  },
  "an address that no setting allows": {
    openapi: { base_url: "http://169.254.169.254" },
    code: "auth_failed",
    says: "no setting allows that: use another address",
    todo: `correct that, then ${AGAIN}`,
  },
  "a host outside of allow_hosts": {
    openapi: { base_url: "https://api.example.com", allow_hosts: ["other.example.com"] },
    code: "auth_failed",
    says: "its host is not in the list of allowed hosts (other.example.com)",
    todo: `correct the address, or add its host to the allowed ones, then ${AGAIN}`,
  },
  "a variable that is not set": {
    openapi: { auth_env: "UNSET_TOKEN" },
    code: "auth_failed",
    says: "the variable UNSET_TOKEN is not set where the tool runs",
    todo: `set UNSET_TOKEN for the program that runs the tool, and start that program again, then ${AGAIN}`,
  },
  "a variable that the project may not use": {
    openapi: { auth_env: "OTHER_TOKEN" },
    code: "auth_failed",
    says: "the variable OTHER_TOKEN may not be used by project demo",
    todo: `correct that, then ${AGAIN}`,
  },
  "a variable that may not be sent there": {
    openapi: { auth_env: "BOUND_TOKEN" },
    code: "auth_failed",
    says: "the variable BOUND_TOKEN of project demo may not be sent to 127.0.0.1",
    todo: `correct that, then ${AGAIN}`,
  },
  "an argument that would lead elsewhere": {
    openapi: { path: "/files/{name}" },
    args: { name: "../secrets" },
    code: "bad_request",
    says: 'the value of name has a part "." or "..", which leads to another resource: send a value without such a part',
    todo: "correct the arguments: the message names the one that is wrong",
  },
  "a stored definition that cannot be run": {
    openapi: { path: "/a?b=1" },
    code: "bad_request",
    says: "cannot be run: options.openapi.path has a character that a path cannot have",
    todo: `correct the tool's definition: the message names the key; then ${AGAIN}`,
  },
  "401": {
    answer: status(401),
    code: "auth_failed",
    says: "answered with HTTP 401",
    todo: `the API wants a credential that it accepts: see the auth of the definition, and the value of its variable; ${WORDS}`,
  },
  "402": {
    answer: status(402),
    code: "bad_request",
    says: "answered with HTTP 402",
    todo: `the API wants to be paid: see to the account that the credential belongs to; ${WORDS}`,
  },
  "403": {
    answer: status(403),
    code: "auth_failed",
    says: "answered with HTTP 403",
    todo: `the API does not let this credential do that: give it the right, or use another one; ${WORDS}`,
  },
  "404": {
    answer: status(404),
    code: "not_found",
    says: "answered with HTTP 404",
    todo: `the API has nothing at this address: correct the arguments; ${WORDS}`,
  },
  "422": {
    answer: status(422),
    code: "bad_request",
    says: "answered with HTTP 422",
    todo: `the API refused the request: correct the arguments; ${WORDS}`,
  },
  "429": {
    answer: status(429),
    code: "upstream_unavailable",
    says: "answered with HTTP 429",
    todo: `the API takes no more requests for now; later, ${AGAIN}`,
  },
  "429 with a pause": {
    answer: status(429, { "retry-after": "3600" }),
    code: "upstream_unavailable",
    says: "answered with HTTP 429",
    todo: `the API takes no more requests for now; in 3600 s, ${AGAIN}`,
  },
  "451": {
    answer: status(451),
    code: "bad_request",
    says: "answered with HTTP 451",
    todo: `the API may not give this out: ask for something else; ${WORDS}`,
  },
  "500": {
    answer: status(500),
    code: "upstream_unavailable",
    says: "answered with HTTP 500",
    todo: `the API itself failed: see that it runs; ${WORDS}`,
  },
  "an HTML page": {
    answer: page,
    code: "upstream_unavailable",
    says: "answered with HTTP 502",
    todo: `the API itself failed: see that it runs; ${WORDS}`,
  },
  "an error in the body of a 200": {
    answer: answerJson({ error: "its own words" }),
    code: "upstream_unavailable",
    says: "answered with HTTP 200 and an error in the body",
    todo: `the API did not do what was asked; ${WORDS}`,
  },
  "JSON that is cut off with its connection": {
    answer: cut,
    code: "upstream_unavailable",
    says: "broke the connection before its answer was whole",
    todo: `see that this host can be reached from where the tool runs, and look at what it did before you ${AGAIN}`,
  },
  "too large": {
    answer: large,
    code: "result_too_large",
    says: "is larger than 4194304 bytes",
    todo: "ask for less: a smaller page, fewer fields, or another operation of the API",
  },
  "a slow drip": {
    openapi: { timeout_s: 0.3 },
    answer: drip,
    code: "tool_timeout",
    says: "the API did not answer within 0.3 s",
    todo: "give the API more time (timeout_s of the definition), or find out why it is slow",
  },
  "a redirect that is not followed": {
    answer: sentTo("http://169.254.169.254/latest"),
    code: "auth_failed",
    says: "the redirect of 127.0.0.1 is not followed: http://169.254.169.254 may not be asked",
    todo: `let the tool ask the right address itself, and look at what the API did before you ${AGAIN}`,
  },
};

test.each(Object.entries(FAILURES))("[SEE-8] %s", async (_name, failure) => {
  const { openapi = {}, answer, args = {}, code, says, todo } = failure;
  if (answer !== undefined) api.answer = answer;
  const tool = `fails_${Object.values(FAILURES).indexOf(failure)}`;
  // Registered as by an earlier version of the plane: without today's rules.
  await world.register(tool, { base_url: api.origin, method: "POST", ...openapi });
  const line = await terminal(["call", tool, JSON.stringify(args)]);
  const [call] = await world.engine.calls.list(world.projectId, { limit: 1 });
  const id = call?.toolCallId ?? "";
  const advice = todo.replaceAll("ID", id);
  expect(line.startsWith(`toolplane: ${code}: `), line).toBe(true);
  expect(line).toContain(says);
  expect(line.replace(` (call ${id})`, "").endsWith(`; ${advice}`), line).toBe(true);
  const shown = await terminal(["calls", "show", id]);
  expect(shown).toContain(`${code}: `);
  expect(shown).toContain(says);
  if (todo.includes(WORDS) && answer !== page) expect(shown).toContain("its own words");
  const why = await terminal(["why", id]);
  expect(why).toContain(says);
  expect(why).toContain(advice);
});
