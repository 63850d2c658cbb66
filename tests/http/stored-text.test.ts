// Text that PostgreSQL cannot store (a NUL, a lone surrogate) and event positions it cannot hold: both are the caller's
// mistake, said in one sentence, and nothing changes.

import { routes } from "@toolplane/server/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack({
    tools: [
      { name: "safe", options: { retry: "safe" } },
      { name: "risky", options: { approval: "required" } },
    ],
  });
});
afterAll(() => http[Symbol.asyncDispose]());

const POISON = { NUL: "a\u0000b", "lone surrogate": "a\ud800b" } as const;
const KINDS = Object.keys(POISON) as readonly (keyof typeof POISON)[];

/** A result becomes a failed result that says so; a card and an item of a batch or an exchange are judged by themselves. */
const JUDGED_LATER: ReadonlySet<string> = new Set([
  "POST /projects/:project/calls/batch",
  "POST /projects/:project/calls/:call/result",
  "POST /projects/:project/cards",
  "POST /projects/:project/tool-services/:target/exchange",
]);

/** Their routes read YAML and forms too. */
const UPLOADS = ["POST /projects/:project/tools", "POST /projects/:project/profiles"];

const withBody = routes
  .filter(({ body }) => body !== undefined)
  .map(({ method, path }) => `${method} ${path}`)
  .concat(UPLOADS)
  .filter((name) => !JUDGED_LATER.has(name));

test.each(withBody)(
  "[SEC-text-1] %s refuses a body with text that cannot be stored, wherever it stands",
  async (name) => {
    const [method = "", path = ""] = name.split(" ");
    const place = path.replace(":project", "demo").replaceAll(/:[a-z]+/g, "nothing");
    const headers = { "cg-tool-call-id": "nothing" };
    for (const kind of KINDS)
      for (const body of [{ a: [{ b: POISON[kind] }] }, { [POISON[kind]]: 1 }, [POISON[kind]]]) {
        const answer = await http.send(method, place, body, { headers });
        expect([answer.status, answer.body.error.code]).toEqual([400, "bad_request"]);
        expect(answer.body.error.message).toContain(`a ${kind}`);
      }
  },
);

test("[SEC-text-1] no path makes the server fail with text that cannot be stored", async () => {
  const placeOf = (path: string): string =>
    path.replace(/^\/projects\/:project\//, "/projects/demo/").replaceAll(/:[a-z]+/g, "a%00b");
  for (const { method, path, body } of routes.filter((one) => placeOf(one.path).includes("%00"))) {
    const answer = await http.send(method, placeOf(path), body === undefined ? undefined : {});
    expect([path, answer.status < 500]).toEqual([path, true]);
  }
});

const make = async (tool_name: string): Promise<string> =>
  (await http.send("POST", "/projects/demo/calls", { tool_name })).body.tool_call_id;

test.each(KINDS)("[SEC-text-1] a %s in a reason, a label, a title, a name or a key changes nothing", async (kind) => {
  const text = POISON[kind];
  const [safe, risky] = [await make("safe"), await make("risky")];
  const before = (await http.send("GET", "/projects/demo/calls")).body;
  const tries: readonly (readonly [string, string, unknown])[] = [
    ["POST", `/projects/demo/calls/${safe}/cancel`, { reason: text }],
    ["POST", `/projects/demo/calls/${risky}/deny`, { reason: text }],
    ["POST", `/projects/demo/calls/${risky}/approve`, { by: text }],
    ["POST", "/projects/demo/calls", { tool_name: "safe", idempotency_key: text }],
    ["POST", "/projects/demo/calls", { tool_name: "safe", arguments: { session_id: text } }],
    ["POST", "/tokens", { role: "viewer", project_id: "demo", label: text }],
    ["POST", "/projects", { project_id: "other", title: text }],
    ["PATCH", "/projects/demo", { title: text }],
    ["POST", "/projects/demo/agents", { agent_id: "a", profile_name: "p", display_name: text }],
    ["POST", "/projects/demo/agents", { agent_id: "a", profile_name: "p", metadata: { deep: [text] } }],
    ["POST", "/projects/demo/agents/a/turns", { instruction: text }],
    ["POST", "/projects/demo/turns/nothing/stop", { reason: text }],
    ["POST", "/projects/demo/agents/a/deactivate", { reason: text }],
    ["POST", "/projects/demo/tool-services/test/claim", { holder: text, wait_seconds: 0 }],
  ];
  for (const [method, path, body] of tries) {
    const { status, body: said } = await http.send(method, path, body);
    expect([path, status, said.error?.code]).toEqual([path, 400, "bad_request"]);
    expect(said.error.message).toContain(`a ${kind}`);
  }
  expect((await http.send("GET", "/projects/demo/calls")).body).toEqual(before);
  expect((await http.send("GET", "/projects/other")).status).toBe(404);
});

test("[SEC-text-1] YAML is held to the same, and so are a query and one item of a batch", async () => {
  const yaml = (text: string) =>
    http.send("POST", "/projects/demo/tools", text, { headers: { "content-type": "application/yaml" } });
  for (const [escaped, kind] of [
    ["\\0", "NUL"],
    ["\\ud800", "lone surrogate"],
  ])
    expect((await yaml(`tool_name: x\ndescription: "a${escaped}b"\n`)).body.error).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining(`a ${kind}`),
    });
  const listed = await http.send("GET", "/projects/demo/calls?tool_name=a%00b");
  expect([listed.status, listed.body.error?.code]).toEqual([400, "bad_request"]);
  const items = [{ tool_name: "safe" }, { tool_name: "safe", agent_id: POISON.NUL }];
  const batch = await http.send("POST", "/projects/demo/calls/batch", items);
  expect([batch.status, batch.body.items[0]?.status, batch.body.items[1]?.error.code]).toEqual([
    200,
    "queued",
    "bad_request",
  ]);
});

test("[SEC-text-1] whole surrogate pairs and every other character are stored as they are sent", async () => {
  const body = String.raw`{"role":"viewer","project_id":"demo","label":"\ud83d\ude00 \u0001 \uD83D\uDE00"}`;
  const made = await http.send("POST", "/tokens", body);
  expect([made.status, made.body.label]).toEqual([201, "\u{1F600} \u0001 \u{1F600}"]);
});

test.each(["99999999999999999999-0", "0-99999999999999999999", "18446744073709551616-0", "1-9223372036854775808"])(
  "[SEC-position] an event id of %s is one this server cannot have given",
  async (id) => {
    const { status, body } = await http.send("GET", "/projects/demo/events", undefined, {
      headers: { "last-event-id": id },
    });
    expect([status, body.error]).toEqual([
      400,
      {
        code: "bad_request",
        message: `${id} is not an event id this server has given; send one it has, or none`,
        retryable: false,
      },
    ]);
  },
);

test("[SEC-position] the largest possible event id reads on from the end", async () => {
  const response = await http.raw("/projects/demo/events", {
    method: "HEAD",
    headers: { authorization: `Bearer ${http.admin}`, "last-event-id": "18446744073709551615-9223372036854775807" },
  });
  expect(response.status).toBe(200);
});
