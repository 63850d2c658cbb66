// The exchange of a tool service: many things said in one request, each answered as at its own route.

import { HEADERS } from "@toolplane/protocol";
import { toolUpload } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openEvents } from "./event-reader.ts";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

interface Held {
  readonly id: string;
  readonly lease: string;
  readonly trace: string;
}

const PATH = "/projects/demo/tool-services/test/exchange";

/** Calls that this service holds. */
const hold = async (http: HttpStack, token: string, count: number, tool = "safe"): Promise<readonly Held[]> => {
  for (let i = 0; i < count; i += 1) await http.send("POST", "/projects/demo/calls", { tool_name: tool });
  const { body } = await http.send("POST", PATH, { max: count }, { token });
  return body.commands.map((command: { headers: Record<string, string>; lease: { id: string } }) => ({
    id: command.headers[HEADERS.toolCallId] ?? "",
    lease: command.lease.id,
    trace: command.headers[HEADERS.traceparent] ?? "",
  }));
};

interface ItemAnswer {
  readonly tool_call_id: string | null;
  readonly status?: string;
  readonly idempotent?: boolean;
  readonly error?: { readonly code: string; readonly message: string };
}

interface Exchanged {
  readonly results: readonly ItemAnswer[];
  readonly heartbeats: readonly ItemAnswer[];
  readonly releases: readonly ItemAnswer[];
  readonly parts: readonly ItemAnswer[];
  readonly commands: readonly { readonly headers: Record<string, string>; readonly attempt: number }[];
}

const exchange = async (
  http: HttpStack,
  body: unknown,
  options: { token?: string; headers?: Record<string, string> } = {},
): Promise<Exchanged> => {
  const answer = await http.send("POST", PATH, body, options);
  expect(answer.status).toBe(200);
  return answer.body as unknown as Exchanged;
};

const codes = (items: readonly ItemAnswer[]) => items.map(({ error, status }) => error?.code ?? status ?? "ok");

test("[API-exchange-1] results, heartbeats, releases and parts are answered in order, and commands come along", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const [a, b, c, d] = (await hold(http, token, 4)) as [Held, Held, Held, Held];
  await http.send("POST", "/projects/demo/calls", { tool_name: "unsafe" });
  const events = await openEvents(http, http.admin);
  const body = await exchange(
    http,
    {
      results: [
        { tool_call_id: b.id, lease: b.lease, status: "failed", error: { code: "no", message: "no" } },
        { tool_call_id: a.id, lease: a.lease, status: "success", result: { words: 1 }, traceparent: a.trace },
      ],
      heartbeats: [{ tool_call_id: c.id, lease: c.lease }],
      releases: [{ tool_call_id: d.id, lease: d.lease }],
      parts: [{ tool_call_id: a.id, lease: a.lease, parts: [{ index: 0, part: "before the result" }] }],
      max: 1,
      holder: "text@here:1",
    },
    { token },
  );
  expect(Object.keys(body).sort()).toEqual(["commands", "heartbeats", "parts", "releases", "results"]);
  expect(body).toMatchObject({
    results: [
      { tool_call_id: b.id, status: "failed", idempotent: false },
      { tool_call_id: a.id, status: "success", idempotent: false, tool_result_card_id: expect.any(String) },
    ],
    heartbeats: [{ tool_call_id: c.id, cancel: false, expires_at: expect.any(String) }],
    releases: [{ tool_call_id: d.id, released: true }],
    parts: [{ tool_call_id: a.id, accepted: 1 }],
  });
  expect(body.commands).toHaveLength(1);
  expect(body.commands[0]).toMatchObject({ lease: { id: expect.any(String) }, card: { type: "tool.call" } });
  await events.until("before the result");
  await events.close();
  expect((await http.send("GET", `/projects/demo/calls/${a.id}`)).body).toMatchObject({ result: { words: 1 } });
  const why = await http.send("GET", `/projects/demo/calls/${body.commands[0]?.headers[HEADERS.toolCallId]}/why`);
  expect(why.body.why).toContain("text@here:1 runs it");
});

test("[API-exchange-1] an exchange that says nothing and asks for nothing is answered with nothing", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  for (const body of [{}, undefined])
    expect(await http.send("POST", PATH, body, { token })).toMatchObject({
      status: 200,
      body: { results: [], heartbeats: [], releases: [], commands: [] },
    });
  const nowhere = await http.send("POST", PATH.replace("demo", "nowhere"), {});
  expect([nowhere.status, nowhere.body.error.message]).toEqual([404, "there is no project nowhere"]);
});

test("[API-exchange-2] a bad item is refused alone, with the answer of its single route", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const held = await hold(http, token, 6);
  const [good, cycle] = held as [Held, Held];
  const over = { lease: cycle.lease, status: "success", result: 1 };
  const single = (path: string, body: unknown, headers = {}) =>
    http.send("POST", `/projects/demo/calls/${path}`, body, { token, headers });
  await single(`${cycle.id}/result`, over);
  const bad: readonly (readonly [string, Record<string, unknown>])[] = [
    [cycle.id, { ...over, result: 2 }],
    ["nothing", { status: "success" }],
    [held[2]?.id ?? "", { lease: "forged", status: "success" }],
    [held[2]?.id ?? "", { lease: held[2]?.lease, status: "success", agent_id: "x" }],
    [held[2]?.id ?? "", { lease: 3, status: "success" }],
    [held[2]?.id ?? "", { lease: held[2]?.lease, status: "success", session_state: 3 }],
    [held[2]?.id ?? "", { lease: held[2]?.lease, status: "success", definition_hash: "x".repeat(200) }],
    [held[2]?.id ?? "", { lease: held[2]?.lease, status: "success", control_stripped: ["a".repeat(100)] }],
  ];
  const alone: string[] = [];
  for (const [id, body] of bad) alone.push((await single(`${id}/result`, body)).body.error?.code ?? "taken");
  expect(alone).not.toContain("taken");
  const results = [
    ...bad.map(([tool_call_id, body]) => ({ tool_call_id, ...body })),
    { tool_call_id: good.id, lease: good.lease, status: "success", result: 1 },
    { tool_call_id: cycle.id, ...over },
  ];
  const body = await exchange(http, { results }, { token });
  expect(codes(body.results)).toEqual([...alone, "success", "success"]);
  expect(body.results.at(-1)).toMatchObject({ idempotent: true });
  expect(body.results[0]?.error).toEqual((await single(`${cycle.id}/result`, { ...over, result: 2 })).body.error);
});

test("[API-exchange-2] items that are none, of another trace, unstorable or too large are refused alone", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const [one, two] = (await hold(http, token, 2)) as [Held, Held];
  const done = { tool_call_id: one.id, lease: one.lease, status: "success" };
  const results = [null, 3, [], {}, { status: "success" }, { ...done, tool_call_id: "" }, { ...done, tool_call_id: 3 }];
  const span = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const body = await exchange(
    http,
    {
      results: [...results, { ...done, traceparent: span }, { ...done, traceparent: 3 }],
      heartbeats: [{ tool_call_id: two.id }, { tool_call_id: two.id, lease: "\u0000" }, { lease: two.lease }],
      releases: [{ tool_call_id: two.id, lease: two.lease, why: "x" }, "x"],
      parts: [
        { tool_call_id: two.id, lease: two.lease, parts: [{ index: -1, part: 1 }] },
        { tool_call_id: two.id, lease: two.lease, parts: [{ index: 0, part: "a\u0000b" }] },
        { tool_call_id: two.id, lease: two.lease, parts: [{ index: 0, part: "x".repeat(2 * 1024 * 1024) }] },
        { tool_call_id: two.id, lease: two.lease, parts: [{ index: 0, part: 1 }] },
      ],
    },
    { token },
  );
  expect(codes(body.results)).toEqual([...results.map(() => "bad_request"), "protocol_violation", "bad_request"]);
  expect(codes(body.heartbeats)).toEqual(["bad_request", "bad_request", "bad_request"]);
  expect(codes(body.releases)).toEqual(["bad_request", "bad_request"]);
  expect(codes(body.parts)).toEqual(["bad_request", "bad_request", "payload_too_large", "ok"]);
  expect(body.results[0]).toMatchObject({
    tool_call_id: null,
    error: { message: expect.stringContaining("the item") },
  });
  // None of it happened: both calls are still held.
  const after = { results: [{ ...done, result: "\u0000" }], heartbeats: [{ tool_call_id: two.id, lease: two.lease }] };
  const still = await exchange(http, after, { token });
  // Text that no database stores settles its call as failed, as at the single route.
  expect(still).toMatchObject({ results: [{ status: "failed" }], heartbeats: [{ cancel: false }] });
});

test("[API-exchange-2] rights and identity are those of the single routes", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const other = await http.toolToken(["elsewhere"]);
  const [held] = (await hold(http, token, 1)) as [Held];
  const results = [{ tool_call_id: held.id, lease: held.lease, status: "success" }];
  const refused = await http.send("POST", PATH, { results }, { token: other });
  expect(refused).toMatchObject({
    status: 403,
    body: { error: { message: "this token serves elsewhere, not test" } },
  });
  const theirs = await http.send("POST", PATH.replace("/test/", "/elsewhere/"), { results }, { token: other });
  expect((theirs.body as unknown as Exchanged).results).toMatchObject([
    { tool_call_id: held.id, error: { code: "auth_failed", message: "this token serves elsewhere, not test" } },
  ]);
  for (const [name, value] of [
    [HEADERS.agentId, "somebody"],
    [HEADERS.toolCallId, "another"],
    [HEADERS.turnEpoch, "99"],
    [HEADERS.channelId, "elsewhere"],
  ] as const) {
    const body = await exchange(http, { results }, { token, headers: { [name]: value } });
    expect(codes(body.results), name).toEqual(["protocol_violation"]);
  }
  const project = await http.send("POST", PATH, { results }, { token, headers: { [HEADERS.projectId]: "shop" } });
  expect(project.body.error.code).toBe("protocol_violation");
  // The client's own trace is nobody's business.
  const traced = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
  const body = await exchange(http, { results }, { token, headers: traced });
  expect(codes(body.results)).toEqual(["success"]);
});

test("[API-exchange-2] two results of one call: the first counts", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const [held] = (await hold(http, token, 1)) as [Held];
  const done = { tool_call_id: held.id, lease: held.lease, status: "success" };
  const results = [1, 2, 1].map((result) => ({ ...done, result }));
  const body = await exchange(http, { results }, { token });
  expect(codes(body.results)).toEqual(["success", "already_settled", "success"]);
  expect(body.results.map(({ idempotent }) => idempotent)).toEqual([false, undefined, true]);
});

const WRONG: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ["results that are not a list", { results: {} }, "$.results"],
  ["too many results", { results: Array.from({ length: 257 }, () => ({})) }, "$.results"],
  ["heartbeats that are not a list", { heartbeats: "x" }, "$.heartbeats"],
  ["too many heartbeats", { heartbeats: Array.from({ length: 257 }, () => ({})) }, "$.heartbeats"],
  ["releases that are not a list", { releases: 3 }, "$.releases"],
  ["parts that are not a list", { parts: null }, "$.parts"],
  ["definitions that are not a list", { definitions: "hash" }, "$.definitions"],
  ["a definition that is not text", { definitions: [3] }, "$.definitions[0]"],
  ["too many definitions", { definitions: Array.from({ length: 257 }, () => "x") }, "$.definitions"],
  ["a negative max", { max: -1 }, "$.max"],
  ["a max that is not a whole number", { max: 1.5 }, "$.max"],
  ["too large a max", { max: 257 }, "$.max"],
  ["a wait that is text", { wait_seconds: "5" }, "$.wait_seconds"],
  ["a negative wait", { wait_seconds: -1 }, "$.wait_seconds"],
  ["too long a wait", { wait_seconds: 61 }, "$.wait_seconds"],
  ["an empty holder", { holder: "" }, "$.holder"],
  ["a long holder", { holder: "x".repeat(129) }, "$.holder"],
  ["an unknown field", { result: [] }, "result"],
];

test("[API-exchange-3] a field that is wrong is refused by name, and nothing happens", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const [held] = (await hold(http, token, 1)) as [Held];
  const results = [{ tool_call_id: held.id, lease: held.lease, status: "success" }];
  for (const [name, wrong, named] of WRONG) {
    const { status, body } = await http.send("POST", PATH, { results, ...wrong }, { token });
    expect([status, body.error.code], name).toEqual([400, "bad_request"]);
    expect(body.error.message, name).toContain(named);
  }
  expect((await http.send("GET", `/projects/demo/calls/${held.id}`)).body.status).toBe("running");
});

test("[API-exchange-3] a target that is none, a body that is not an object and one that is too large are refused", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  expect((await http.send("POST", PATH.replace("/test/", "/a.b/"), {})).body.error.message).toContain("a target is");
  for (const body of ["[]", '"x"', "{", '{"max":0,"max":0}'])
    expect((await http.send("POST", PATH, body, { token })).body.error.code).toBe("bad_request");
  const large = `{"holder":"${"x".repeat(16 * 1024 * 1024)}"}`;
  expect((await http.send("POST", PATH, large, { token })).status).toBe(413);
  const holder = await http.send("POST", PATH, { holder: "a\u0000b" }, { token });
  expect(holder.body.error.code).toBe("bad_request");
});

test("[API-exchange-4] what is said is answered at once; an exchange that says nothing waits for work", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const [held] = (await hold(http, token, 1)) as [Held];
  // Were it to wait, it would wait for a minute, and the test with it.
  const said = await http.send(
    "POST",
    PATH,
    { results: [{ tool_call_id: held.id, lease: held.lease, status: "success" }], max: 1, wait_seconds: 60 },
    { token },
  );
  expect(said.body).toMatchObject({ results: [{ status: "success" }], commands: [] });
  const waiting = http.send("POST", PATH, { max: 1, wait_seconds: 60 }, { token });
  await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  expect((await waiting).body.commands).toHaveLength(1);
});

test("[API-exchange-5] pinned calls come only to a service that names their definition", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const pinned = toolUpload({ name: "pinned", options: { pin: "strict" } });
  const { body: made } = await http.send("POST", "/projects/demo/tools", pinned);
  for (const tool_name of ["pinned", "safe", "pinned"]) await http.send("POST", "/projects/demo/calls", { tool_name });
  const taken = async (path: string, definitions: readonly unknown[] | undefined) => {
    const { body } = await http.send("POST", path, { max: 9, wait_seconds: 0, definitions }, { token });
    return body.commands.map(({ payload }) => (payload as { tool_name: string }).tool_name);
  };
  const claim = PATH.replace("/exchange", "/claim");
  expect(await taken(PATH, undefined)).toEqual(["safe"]);
  expect(await taken(claim, ["f".repeat(64)])).toEqual([]);
  expect(await taken(PATH, [made.definition_hash])).toEqual(["pinned", "pinned"]);
});
