// Limits over HTTP: what a refused caller is told, what `why` says, and how the limits of a project are changed. One stack for all.

import { toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack({ tools: [] });
});
afterAll(() => http[Symbol.asyncDispose]());

const register = (name: string, options: object) =>
  http.send("POST", "/projects/demo/tools", toolUpload({ name, target: name, options: options as never }));
const call = (tool_name: string) => http.send("POST", "/projects/demo/calls", { tool_name, arguments: {} });
const why = async (id: unknown) => (await http.send("GET", `/projects/demo/calls/${String(id)}/why`)).body;
interface Command {
  readonly lease: { readonly id: string };
  readonly headers: Readonly<Record<string, string>>;
}
const claim = async (target: string, max = 9): Promise<readonly Command[]> => {
  const asked = { max, wait_seconds: 0 };
  const { body } = await http.send("POST", `/projects/demo/tool-services/${target}/claim`, asked);
  return body.commands as unknown as readonly Command[];
};
const fail = async (target: string): Promise<unknown> => {
  const [command] = await claim(target, 1);
  const id = command?.headers["CG-Tool-Call-Id"];
  const error = { code: "upstream_unavailable", message: "busy", detail: { retry_after_seconds: 90 } };
  const body = { lease: command?.lease.id, status: "failed", result: null, error };
  return (await http.send("POST", `/projects/demo/calls/${id}/result`, body)).body;
};

test("[LIM-door-1] the limits of a project are changed and shown, and a flood is refused with the time to come back", async () => {
  const patch = (limits: object) => http.send("PATCH", "/projects/demo", { limits });
  await register("any", {});
  expect((await patch({ rate: { limit: 1, per_seconds: 600 }, queue: 5 })).body).toMatchObject({
    limits: { concurrency: null, rate: { limit: 1, per_seconds: 600 }, queue: 5 },
  });
  expect((await call("any")).status).toBe(202);
  const refused = await http.raw("/projects/demo/calls", {
    method: "POST",
    headers: { authorization: `Bearer ${http.admin}`, "content-type": "application/json" },
    body: JSON.stringify({ tool_name: "any", arguments: {} }),
  });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(500);
  expect((await patch({ rate: null, queue: null })).body).toMatchObject({ limits: { rate: null, queue: null } });
  expect((await call("any")).status).toBe(202);
  for (const limits of [{ rate: { limit: 0, per_seconds: 1 } }, { concurrency: 0 }, { queu: 1 }])
    expect((await patch(limits)).status).toBe(400);
});

test.each([
  ["/tools/bounded/limits", '{"__proto__":{"a":1}}', 'unknown key "__proto__" at $'],
  [
    "/tools/bounded/limits",
    '{"rate":{"limit":1,"per_seconds":1,"\\u005f_proto__":1}}',
    'unknown key "__proto__" at $.rate',
  ],
  ["", '{"limits":{"__proto__":null}}', 'unknown key "__proto__" at $.limits'],
  ["/tools/bounded/limits", '{"concurrency":10001}', "$.concurrency: expected at most 10000, got 10001"],
  ["/tools/bounded/limits", '{"concurrency":1e308}', "$.concurrency: expected at most 10000, got 1e+308"],
  [
    "/tools/bounded/limits",
    '{"concurrency":1e309}',
    "$.concurrency: expected at most 10000, got a number that is too large",
  ],
  [
    "/tools/bounded/limits",
    '{"concurrency":-1e309}',
    "$.concurrency: expected at least 1, got a number that is too small",
  ],
  ["", '{"limits":{"queue":1e309}}', "$.limits.queue: expected at most 1000000, got a number that is too large"],
  ["", '{"limits":{"queue":1e308}}', "$.limits.queue: expected at most 1000000, got 1e+308"],
])("[LIM-bounds] PATCH %s of %s is refused with the field and its bound", async (path, body, message) => {
  await register("bounded", {});
  const answer = await http.raw(`/projects/demo${path}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${http.admin}`, "content-type": "application/json" },
    body,
  });
  expect(answer.status).toBe(400);
  const { error } = (await answer.json()) as { readonly error: { readonly message: string } };
  expect(error.message).toMatch(/^(the body|project) is not valid: /);
  expect(error.message.replace(/^.* is not valid: /, "")).toBe(message);
});

test("[LIM-why-1] a call that waits for a slot or for its rate says so", async () => {
  await register("one", { concurrency: 1 });
  const first = await call("one");
  const [held] = await claim("one");
  const second = await call("one");
  expect(held?.headers["CG-Tool-Call-Id"]).toBe(first.body.tool_call_id);
  expect(await why(second.body.tool_call_id)).toMatchObject({
    why: expect.stringMatching(
      new RegExp(
        `^it waits for a slot: one runs at most 1 call at a time, and 1 runs now \\(call ${first.body.tool_call_id} at `,
      ),
    ),
    todo: `end a call that holds a slot: toolplane calls cancel ${first.body.tool_call_id}; or let more run at once: toolplane tools limits one --concurrency N`,
    facts: { running: 1, ahead: 0, limit: { held_by: "concurrency", running: 1 } },
  });
  await register("rare", { rate: { limit: 1, per_seconds: 3_600 } });
  await call("rare");
  const later = await call("rare");
  expect(await claim("rare")).toHaveLength(1);
  const said = await why(later.body.tool_call_id);
  const waiting = said.status === "queued" ? said : await why((await call("rare")).body.tool_call_id);
  expect(waiting.why).toMatch(
    /^it waits for the rate of rare, at most 1 call in 3600 s; the next call may start at .*; this call is the next one$/,
  );
});

test("[LIM-why-3] an agent's token is not told which calls of others hold the slots, nor where they run", async () => {
  await register("shared", { concurrency: 2 });
  const tokenOf = async () => (await http.t.engine.tokens.create({ role: "agent", projectId: "demo" })).secret;
  const [ann, bob] = [await tokenOf(), await tokenOf()];
  const make = async (token: string): Promise<string> =>
    (await http.send("POST", "/projects/demo/calls", { tool_name: "shared", arguments: {} }, { token })).body
      .tool_call_id;
  const [anns, bobs] = [await make(ann), await make(bob)];
  expect(await claim("shared")).toHaveLength(2);
  const waiting = await make(bob);
  const path = `/projects/demo/calls/${waiting}/why`;
  const told = (await http.send("GET", path, undefined, { token: bob })).body;
  expect(JSON.stringify(told)).not.toContain(anns);
  expect(told.why).toMatch(
    new RegExp(
      `shared runs at most 2 calls at a time, and 2 run now \\(call ${bobs} at .* and 1 more\\); a slot is free when one of them ends or its lease lapses, at the latest at `,
    ),
  );
  expect(told.facts).toMatchObject({ limit: { running: 2, slots: [{ tool_call_id: bobs }] } });
  // A person sees all of them.
  expect((await why(waiting)).facts).toMatchObject({ limit: { slots: [{}, {}] } });
});

test("[LIM-why-1] an open breaker and a failed attempt say so", async () => {
  const retry_policy = { attempts: 9, backoff_seconds: 1 };
  const breaker = { failure_rate: 0.1, window_seconds: 600, open_seconds: 600 };
  await register("shaky", { retry: "safe", retry_policy, breaker });
  const calls = [];
  for (let one = 0; one < 6; one++) calls.push((await call("shaky")).body.tool_call_id);
  for (let one = 0; one < 5; one++)
    expect(await fail("shaky")).toEqual({
      tool_result_card_id: null,
      status: "queued",
      idempotent: false,
      retry_at: expect.any(String),
    });
  const said = await Promise.all(calls.map(why));
  expect(
    said.filter(({ why: text }) =>
      /^attempt 1 failed with upstream_unavailable; by the retry policy of shaky, attempt 2 may start at .* \(in [0-9]+ s\)$/.test(
        String(text),
      ),
    ),
  ).toHaveLength(5);
  expect(
    said.filter(({ why: text }) =>
      /^the breaker of shaky has been open since .*, because too many of its runs failed; a call runs as a trial at /.test(
        String(text),
      ),
    ),
  ).toHaveLength(1);
  const refused = await call("shaky");
  expect(refused).toMatchObject({ status: 503, body: { error: { code: "breaker_open", retryable: true } } });
  const failed = said.find(({ facts }) => (facts as { last_failure?: string }).last_failure !== undefined);
  const shown = (await http.send("GET", `/projects/demo/calls/${failed?.tool_call_id}`)).body;
  expect(shown).toMatchObject({ attempts: 1, leases: [{ ended: "failed", error_code: "upstream_unavailable" }] });
});

test("[LIM-why-1] the list of limits says what runs, what waits and which breaker is open", async () => {
  const { body } = await http.send("GET", "/projects/demo/limits");
  const items = body.items as unknown as readonly Record<string, unknown>[];
  const of = (name: string) => items.find(({ tool_name }) => tool_name === name);
  expect(of("one")).toMatchObject({ limits: { concurrency: 1 }, running: 1, waiting: 1, held_by: "concurrency" });
  expect(of("rare")).toMatchObject({ running: 1, held_by: "rate", next_at: expect.any(String) });
  expect(of("shaky")).toMatchObject({
    running: 0,
    waiting: 6,
    held_by: "breaker",
    breaker_opened_at: expect.any(String),
  });
  expect(of("any")).toBeUndefined();
  expect(items.filter(({ tool_name }) => tool_name === null)).toEqual([]);
  await http.send("PATCH", "/projects/demo", { limits: { concurrency: 1 } });
  const [own] = (await http.send("GET", "/projects/demo/limits")).body.items as unknown as readonly object[];
  expect(own).toMatchObject({ tool_name: null, limits: { concurrency: 1 }, held_by: "concurrency" });
});

test("[LIM-door-6] the list of limits has every limit of the project itself, also one that only refuses", async () => {
  const project_id = "own-limits";
  await http.send("POST", "/projects", { project_id, title: "Own", bootstrap: false });
  const own = async () => (await http.send("GET", `/projects/${project_id}/limits`)).body.items;
  const patch = (limits: object) => http.send("PATCH", `/projects/${project_id}`, { limits });
  const row = { tool_name: null, target: null, running: 0, waiting: 0, held_by: null };
  expect(await own()).toEqual([]);
  await patch({ queue: 100 });
  expect(await own()).toMatchObject([{ ...row, limits: { queue: 100 } }]);
  // Calls of tools without a limit count as well.
  await http.send("POST", `/projects/${project_id}/tools`, toolUpload({ name: "free", target: "free", options: {} }));
  for (let one = 0; one < 3; one++)
    await http.send("POST", `/projects/${project_id}/calls`, { tool_name: "free", arguments: {} });
  await http.send("POST", `/projects/${project_id}/tool-services/free/claim`, { max: 1, wait_seconds: 0 });
  expect(await own()).toMatchObject([{ ...row, running: 1, waiting: 2 }]);
  const rate = { limit: 1_000, per_seconds: 1 };
  const target_breaker = { failure_rate: 0.5, window_seconds: 60, open_seconds: 30 };
  for (const more of [{ concurrency: 5, rate }, { target_breaker }]) await patch(more);
  const [{ limits } = { limits: undefined }] = (await own()) as unknown as readonly { readonly limits: unknown }[];
  expect(limits).toEqual({ concurrency: 5, rate, queue: 100, target_breaker });
});

test("the usage of a tool counts all its calls that ended", async () => {
  await register("counted", {});
  const settle = async (more: object) => {
    await call("counted");
    const [command] = await claim("counted", 1);
    const id = command?.headers["CG-Tool-Call-Id"];
    await http.send("POST", `/projects/demo/calls/${id}/result`, { lease: command?.lease.id, result: null, ...more });
  };
  await http.send("PATCH", "/projects/demo", { limits: { concurrency: null } });
  const usage = async () => (await http.send("GET", "/projects/demo/tools/counted/usage")).body;
  expect(await usage()).toMatchObject({ ended: 0, failed: 0, open: 0, median_ms: null, errors: [] });
  await settle({ status: "success" });
  await settle({ status: "failed", error: { code: "tool_error", message: "no" } });
  await settle({ status: "failed", error: { code: "tool_error", message: "no" } });
  await call("counted");
  expect(await usage()).toMatchObject({
    ended: 3,
    failed: 2,
    open: 1,
    is_cut: false,
    median_ms: expect.any(Number),
    p95_ms: expect.any(Number),
    errors: [{ code: "tool_error", calls: 2 }],
  });
});

test("[LIM-door-4] the limits of a tool are changed alone, and a shown tool can be edited and applied", async () => {
  await register("owned", { retry: "safe", concurrency: 3 });
  const path = "/projects/demo/tools/owned";
  const change = (limits: object) => http.send("PATCH", `${path}/limits`, limits);
  const rate = { limit: 20, per_seconds: 1, burst: 2 };
  expect((await change({ rate, concurrency: null })).body).toMatchObject({
    version: 2,
    options: { retry: "safe", rate },
  });
  expect((await http.send("GET", path)).body.options).toEqual({ retry: "safe", rate });
  // A service that registers again what it said before changes nothing.
  const upload = toolUpload({ name: "owned", target: "owned", options: { retry: "safe", concurrency: 3 } });
  const again = await http.send("POST", "/projects/demo/tools", upload, {
    headers: { "toolplane-register-as": "service" },
  });
  expect(again.body.options).toEqual({ retry: "safe", rate });
  expect((await change({ rat: rate })).status).toBe(400);
  expect((await http.send("PATCH", "/projects/demo/tools/nothing/limits", {})).status).toBe(404);
  const { options, ...shown } = (await http.send("GET", path)).body;
  const edited = { ...shown, options: { ...(options as object), concurrency: 7 } };
  expect((await http.send("POST", "/projects/demo/tools", edited)).body).toMatchObject({
    outcome: "replaced",
    options: { concurrency: 7, rate },
  });
  expect((await http.send("POST", "/projects/demo/tools", { ...upload, version: 3 })).status).toBe(400);
});

test("[LIM-project-2] a rate that is taken away and set again begins with a full bucket", async () => {
  const patch = (limits: object) => http.send("PATCH", "/projects/demo", { limits });
  const rate = { limit: 1, per_seconds: 3_600 };
  await register("refilled", {});
  await patch({ rate });
  expect([(await call("refilled")).status, (await call("refilled")).status]).toEqual([202, 429]);
  await patch({ rate: null });
  await patch({ rate });
  expect((await call("refilled")).status).toBe(202);
  await patch({ rate: null });
});
