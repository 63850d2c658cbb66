// A clumsy user at every route of the table: what is wrong is said in one sentence, with the status it has, and nothing changes.

import { silentLog } from "@toolplane/engine";
import { createApp, routes } from "@toolplane/server/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack();
});
afterAll(() => http[Symbol.asyncDispose]());

/** The path of a route, with ids that nothing has. */
const pathOf = (path: string, project: string): string =>
  path.replace(":project", project).replaceAll(/:[a-z]+/g, "nothing");

const ofProjects = routes.filter(({ path }) => path.startsWith("/projects/:project"));

/** A body that is right, where one is needed: what is wrong is the project. */
const BODIES: Readonly<Record<string, unknown>> = {
  "POST /projects/:project/calls": { tool_name: "safe" },
  "POST /projects/:project/calls/:call/heartbeat": { lease: "x" },
  "POST /projects/:project/calls/:call/release": { lease: "x" },
  "POST /projects/:project/calls/:call/result": { status: "success", result: 1 },
  "POST /projects/:project/calls/:call/parts": { lease: "x", parts: [{ index: 0, part: 1 }] },
  "POST /projects/:project/cards/batch": { card_ids: ["nothing"] },
  "POST /projects/:project/boxes/batch": { box_ids: ["nothing"] },
  "POST /projects/:project/agents": { agent_id: "a", profile_name: "nothing" },
  "POST /projects/:project/agents/:agent/turns": { instruction: "do it" },
  "POST /projects/:project/agents/:agent/actions": { tool_name: "echo" },
  "POST /projects/:project/webhooks": { url: "https://hooks.example.com/", secret: "a secret of some length" },
  "POST /projects/:project/profiles": { name: "nothing", worker_target: "agents", prompt_definition: "x" },
};

/** They ask for a whole conversation before they look at the project, or answer for each item. */
const OTHERWISE: ReadonlySet<string> = new Set([
  "POST /projects/:project/calls/batch",
  "POST /projects/:project/cards",
  "POST /projects/:project/reports",
]);

test.each(ofProjects.map(({ method, path }) => `${method} ${path}`).filter((name) => !OTHERWISE.has(name)))(
  "[API-no-project] %s of a project that is not there is 404, and says so",
  async (name) => {
    const [method = "", path = ""] = name.split(" ");
    const body = method === "GET" || method === "DELETE" ? undefined : (BODIES[name] ?? {});
    const answer = await http.send(method, pathOf(path, "nowhere"), body);
    expect([answer.status, answer.body.error]).toEqual([
      404,
      {
        code: "not_found",
        message: "there is no project nowhere",
        retryable: false,
        detail: { todo: "see which projects exist: toolplane projects list, or GET /projects" },
      },
    ]);
  },
);

test("[API-no-project] a tool service hears that its project was deleted while it waited", async () => {
  const { projects } = http.t.engine;
  await projects.createProject({ project_id: "short", title: "Short", bootstrap: false }, "sys.test");
  const claim = () => http.send("POST", "/projects/short/tool-services/test/claim", { wait_seconds: 0.2 });
  const waiting = claim();
  expect((await http.send("DELETE", "/projects/short")).status).toBe(204);
  // It had begun before, or it came after.
  expect([200, 404]).toContain((await waiting).status);
  expect((await claim()).body.error.message).toBe("there is no project short");
});

test("[API-services] a tool service that stops waiting is not counted as one that waits", async () => {
  const services = async () =>
    (await http.send("GET", "/projects/demo/services")).body.items
      .filter(({ status }) => status === "here")
      .map(({ holder }) => holder);
  const leaving = new AbortController();
  const waiting = http.raw("/projects/demo/tool-services/leaving/claim", {
    method: "POST",
    headers: { authorization: `Bearer ${http.admin}` },
    body: JSON.stringify({ holder: "leaver", wait_seconds: 60 }),
    signal: leaving.signal,
  });
  await expect.poll(services).toContain("leaver");
  leaving.abort();
  await waiting;
  expect(await services()).not.toContain("leaver");
});

test("[API-errors] what is not there is named as it was asked for, quoted where it could not be a name", async () => {
  const odd = encodeURIComponent('a b"\u0007');
  const shown = '"a b\\"\\u0007"';
  for (const [method, path, message] of [
    ["GET", `/projects/${odd}`, `there is no project ${shown}`],
    ["DELETE", `/projects/demo/tools/${odd}`, `project demo has no tool ${shown}`],
    ["GET", `/projects/demo/tools/${odd}`, `project demo has no tool ${shown}`],
    ["POST", `/projects/demo/tools/${odd}/pause`, `project demo has no tool ${shown}`],
    ["GET", `/projects/demo/agents/${odd}`, `project demo has no agent ${shown}`],
    ["POST", `/projects/demo/agents/${odd}/turns`, `project demo has no agent ${shown}: register it first`],
    ["GET", `/projects/demo/profiles/${odd}`, `project demo has no profile ${shown}`],
    ["DELETE", `/projects/demo/profiles/${odd}`, `project demo has no profile ${shown}`],
    ["DELETE", "/projects/demo/profiles/nobody", "project demo has no profile nobody"],
    ["GET", `/projects/demo/calls/${odd}`, `there is no call ${shown} in this project`],
    ["GET", `/projects/demo/calls/${odd}/card`, `there is no call ${shown} in this project`],
    ["POST", `/projects/demo/calls/${odd}/heartbeat`, `there is no call ${shown} in this project`],
    ["GET", `/projects/demo/turns/${odd}`, `there is no turn ${shown} in this project`],
    ["POST", `/projects/demo/turns/${odd}/stop`, `there is no turn ${shown} in this project`],
    ["GET", `/projects/demo/dead-letters/${odd}`, `there is no dead letter ${shown} in this project`],
    ["GET", `/projects/demo/cards/${odd}`, `project demo has no card ${shown}`],
    ["GET", `/projects/demo/boxes/${odd}`, `project demo has no box ${shown}`],
    ["DELETE", `/tokens/${odd}`, `there is no token ${shown}`],
  ] as const) {
    const needed = path.endsWith("/turns") ? { instruction: "x" } : path.endsWith("/heartbeat") ? { lease: "x" } : {};
    const answer = await http.send(method, path, method === "POST" ? needed : undefined);
    expect.soft([method, path, answer.status, answer.body.error.message]).toEqual([method, path, 404, message]);
  }
});

test("[API-errors] what a newcomer gets wrong first is said with what to do", async () => {
  const said = async (method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await http.send(method, path, body, { headers });
    return [answer.status, answer.body.error.message];
  };
  const claim = (target: string) => said("POST", `/projects/demo/tool-services/${target}/claim`, { wait_seconds: 0 });
  expect(await claim("my%20tools")).toEqual([400, 'a target is letters, digits, _ and -, not "my tools"']);
  expect((await claim("x".repeat(200)))[0]).toBe(400);
  expect(await said("POST", "/tokens", {})).toEqual([
    400,
    'the body is not valid: $.role: missing, expected one of "admin"|"operator"|"agent"|"tool"|"viewer"',
  ]);
  expect((await said("POST", "/tokens", { role: "tool", project_id: "demo" }))[1]).toBe(
    "a tool's token names the targets it serves: set targets",
  );
  expect(await said("POST", "/projects/demo/calls", '{"tool_name":"safe"}', { "content-encoding": "gzip" })).toEqual([
    400,
    "the body is sent as it is, not encoded as gzip: leave Content-Encoding out",
  ]);
  expect(await said("GET", "/health", undefined, { host: "box.example:7420" })).toEqual([
    403,
    "this server does not answer to the host name box.example; start it with TOOLPLANE_ALLOWED_HOSTS=box.example if that is its name",
  ]);
  expect(await said("GET", "/projects/demo/events", undefined, { "last-event-id": "zzz" })).toEqual([
    400,
    "zzz is not an event id this server has given; send one it has, or none",
  ]);
});

const PAGED = ["calls", "turns", "agents", "profiles", "tools", "approvals", "dead-letters"];

test("[API-no-project] an empty list of a project that is there is an empty page", async () => {
  await http.send("POST", "/projects", { project_id: "bare", title: "Bare", bootstrap: false });
  for (const list of [...PAGED, "services", "hosts"]) {
    const { status, body } = await http.send("GET", `/projects/bare/${list}`);
    expect([list, status, body]).toEqual([list, 200, { items: [], next_cursor: null }]);
  }
});

const DEMO_PATHS = [...PAGED.map((list) => `/projects/demo/${list}`), "/projects", "/tokens"];

test.each(DEMO_PATHS)("[API-errors] GET %s with a page that cannot be is 400 and names what is wrong", async (path) => {
  const cases: readonly (readonly [string, string])[] = [
    ["limit=-1", "$.limit"],
    ["limit=0", "$.limit"],
    ["limit=1.5", "$.limit"],
    ["limit=501", "$.limit"],
    ["limit=many", "$.limit"],
    ["limit=", "$.limit"],
    ["cursor=nonsense", "cursor does not come from this list; use next_cursor of the page before"],
    ["cursor=%00", "a NUL character at $.cursor"],
    ["cursor=", "cursor does not come from this list; use next_cursor of the page before"],
    ["page=2", "unknown key page"],
  ];
  for (const [query, said] of cases) {
    const { status, body } = await http.send("GET", `${path}?${query}`);
    expect([query, status, body.error.code]).toEqual([query, 400, "bad_request"]);
    expect(body.error.message).toContain(said);
  }
});

test.each(routes.filter(({ body }) => body !== undefined).map(({ method, path }) => [method, path] as const))(
  "[API-errors] %s %s with a body that cannot be is 400 and says what is wrong with it",
  async (method, path) => {
    const send = (body: string, type = "application/json") =>
      http.send(method, pathOf(path, "demo"), body, { headers: { "content-type": type } });
    for (const body of ["{", "{not json", "'a'", "a=1&b=2", "\u0000", "1 2"]) {
      const answer = await send(body, body.includes("=") ? "application/x-www-form-urlencoded" : undefined);
      expect([body, answer.status, answer.body.error.message]).toEqual([
        body,
        400,
        expect.stringMatching(/^the body is not valid JSON/),
      ]);
    }
    for (const body of ["null", '"x"', "7", "true"]) {
      const answer = await send(body);
      expect([body, answer.status, answer.body.error.message]).toEqual([
        body,
        400,
        expect.stringMatching(/^the body is not valid: \$: .*expected (object|array|record)/),
      ]);
    }
    expect((await send(" ")).body.error.message).toBe("the body is empty: send JSON");
  },
);

test("[API-errors] what is missing is called missing", async () => {
  const said = async (path: string, body?: unknown) => (await http.send("POST", path, body)).body.error.message;
  const calls = "/projects/demo/calls";
  expect(await said(calls)).toBe("the body is empty: send JSON");
  expect(await said(`${calls}/batch`)).toBe("the body is empty: send JSON");
  expect(await said("/projects/demo/tools")).toBe("the body is empty: send JSON");
  expect(await said(calls, {})).toBe("the body is not valid: $.tool_name: missing, expected string");
  expect(await said(`${calls}/nothing/result`, {})).toBe("the body is not valid: $.status: missing");
  expect(await said("/projects/demo/cards", {})).toBe("a tool.result card names its call: set tool_call_id");
});

test("[API-errors] a path that takes other methods says which", async () => {
  for (const [method, path, allow] of [
    ["PUT", "/projects/demo/calls", "POST, GET"],
    ["OPTIONS", "/projects/demo/calls", "POST, GET"],
    ["DELETE", "/projects/demo/calls/nothing/", "GET"],
    ["POST", "/health", "GET"],
    ["PATCH", "/projects/demo/tools/safe", "GET, DELETE"],
  ] as const) {
    const { status, headers, body } = await http.send(method, path);
    expect([path, status, headers.get("allow"), body.error.message]).toEqual([
      path,
      405,
      allow,
      `${method} is not offered here; it takes ${allow.replaceAll(", ", " or ")}`,
    ]);
  }
  for (const path of ["/", "/nowhere", "/projects//calls", "/Projects", "/projects/demo/nothing"])
    expect((await http.send("GET", path)).body.error.message).toContain(`there is nothing at ${path};`);
});

test("[API-errors] every path and every method it does not take: 405, with the methods it takes in Allow", async () => {
  const wrong: string[] = [];
  for (const path of new Set(routes.map((one) => one.path))) {
    const own = [...new Set(routes.filter((one) => one.path === path).map(({ method }) => method as string))];
    const asked = path.replaceAll(/:[a-z]+/g, "x");
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      if (own.includes(method)) continue;
      const { status, headers } = await http.send(method, asked);
      if (status !== 405 || headers.get("allow") !== own.join(", "))
        wrong.push(`${method} ${asked}: ${status}, Allow ${headers.get("allow")}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("[API-errors] HEAD is GET without a body, also of the events, which open no stream", async () => {
  const head = (path: string) => http.raw(path, { method: "HEAD", headers: { authorization: `Bearer ${http.admin}` } });
  expect((await head("/projects/demo/calls")).status).toBe(200);
  expect((await head("/projects/nowhere/calls")).status).toBe(404);
  const events = await head("/projects/demo/events");
  expect([events.status, events.headers.get("content-type"), events.body]).toEqual([200, "text/event-stream", null]);
});

test("[API-errors] a slash too many is no other place, and 401 says which token it wants", async () => {
  expect((await http.send("GET", "/projects/demo/calls/")).status).toBe(200);
  const { status, headers } = await http.send("GET", "/projects/", undefined, { token: null });
  expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
});

test("[API-errors] a process without the role api says so", async () => {
  const app = createApp({
    engine: () => http.t.engine,
    routes: [],
    log: silentLog,
    health: async () => ({ ok: true, body: {} }),
    hosts: [],
    draining: new AbortController().signal,
  });
  const response = await app.request("/projects/demo/calls", { headers: { host: "localhost" } });
  expect([response.status, await response.json()]).toMatchObject([
    404,
    { error: { message: "this process does not have the role api: ask a process that has it" } },
  ]);
});

test("[API-errors] nothing of all this changed anything", async () => {
  expect((await http.send("GET", "/projects/demo/calls")).body.items).toEqual([]);
  expect((await http.send("GET", "/projects/demo/turns")).body.items).toEqual([]);
  expect((await http.send("GET", "/projects/demo/agents")).body.items).toEqual([]);
  expect((await http.send("GET", "/tokens")).body.items).toHaveLength(1);
});
