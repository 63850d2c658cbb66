// The events of calls as people read them: over HTTP, from any event on, and only their own.

import { meddle, resultFor, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openEvents, readStream } from "./event-reader.ts";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const call = async (http: HttpStack, more: object = {}): Promise<string> =>
  (await http.send("POST", "/projects/demo/calls", { tool_name: "safe", ...more })).body.tool_call_id;

const settleAll = async (http: HttpStack): Promise<void> => {
  const { calls } = http.t.engine;
  for (const leased of await calls.claim({ projectId: "demo", target: "test", holder: "service", max: 64 }))
    await calls.settle(resultFor(leased));
};

/** `phase` of each event of a call in what was read, with the id to go on from. */
const phasesIn = (text: string, toolCallId: string) =>
  text.split("\n\n").flatMap((block) => {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    const id = /^id: (.*)$/m.exec(block)?.[1] ?? "";
    const { payload } = data === undefined ? { payload: {} } : JSON.parse(data);
    return payload.tool_call_id === toolCallId && payload.phase !== undefined
      ? [{ phase: String(payload.phase), id }]
      : [];
  });

const names = (phases: readonly { readonly phase: string }[]) => phases.map(({ phase }) => phase);

test("[API-call-events] the life of a call is streamed as it happens, and a reader that comes back misses and repeats nothing", async () => {
  await using http = await startHttpStack();
  const live = await openEvents(http, http.admin);
  await live.until(": connected");
  const toolCallId = await call(http);
  await live.until('"dispatched"');
  await settleAll(http);
  const seen = phasesIn(await live.until('"settled"'), toolCallId);
  expect(names(seen)).toEqual(["dispatched", "leased", "settled"]);
  await live.close();
  for (const [place, { id }] of seen.slice(0, 2).entries()) {
    const back = await openEvents(http, http.admin, { "last-event-id": id });
    expect(names(phasesIn(await back.until('"settled"'), toolCallId))).toEqual(names(seen.slice(place + 1)));
    await back.close();
  }
});

test("[API-call-events] [LIM-door-3] a crowd of readers, who share reads and bytes: each sees every event once, in order", async () => {
  await using http = await startHttpStack();
  const readers = await Promise.all(Array.from({ length: 24 }, () => openEvents(http, http.admin)));
  const ids: string[] = [];
  for (let wave = 0; wave < 3; wave++) {
    ids.push(...(await Promise.all([1, 2, 3, 4].map(() => call(http)))));
    await settleAll(http);
    http.t.engine.bus.publishStream({ subject: "cg.v1r4.demo.public.str.agent.a.chunk", payload: `{"wave":${wave}}` });
    // They come to stand at different places of the log.
    await Promise.all(readers.slice(wave * 8).map((reader) => reader.until(ids.at(-1) ?? "")));
  }
  const last = await call(http);
  await settleAll(http);
  for (const reader of readers) {
    let text = "";
    while (phasesIn(text, last).length < 3) text = await reader.more();
    for (const id of ids) expect(names(phasesIn(text, id))).toEqual(["dispatched", "leased", "settled"]);
    expect([...text.matchAll(/"wave":(\d)/g)].map(([, wave]) => wave)).toEqual(["0", "1", "2"]);
    await reader.close();
  }
});

test("[API-call-events] a transaction that stays open elsewhere in the database delays no event", async () => {
  await using http = await startHttpStack();
  await withClient(http.t, async (elsewhere) => {
    await elsewhere.query("begin");
    await elsewhere.query("create table public.elsewhere (n int)");
    const live = await openEvents(http, http.admin);
    await live.until(": connected");
    const toolCallId = await call(http);
    await settleAll(http);
    expect(names(phasesIn(await live.until('"settled"'), toolCallId))).toEqual(["dispatched", "leased", "settled"]);
    await live.close();
    await elsewhere.query("rollback");
  });
});

test("[API-call-events] an agent is shown its own calls, a viewer those of its project, a tool none", async () => {
  await using http = await startHttpStack();
  const { engine } = http.t;
  await engine.profiles.upsertProfile("demo", { name: "worker", worker_target: "workers" });
  for (const agent_id of ["ann", "bob"]) await engine.agents.upsertAgent("demo", { agent_id, profile: "worker" });
  const secret = async (role: "agent" | "viewer", actorId?: string) =>
    (await engine.tokens.create({ role, projectId: "demo", actorId })).secret;
  const [anns, bobs] = [await call(http, { agent_id: "ann" }), await call(http, { agent_id: "bob" })];
  const last = await call(http, { agent_id: "ann" });
  const read = async (token: string) => {
    const events = await openEvents(http, token, { "last-event-id": "0" });
    const text = await events.until(last);
    await events.close();
    return [anns, bobs, last].map((id) => names(phasesIn(text, id)).join());
  };
  expect(await read(await secret("agent", "ann"))).toEqual(["dispatched", "", "dispatched"]);
  expect(await read(await secret("viewer"))).toEqual(["dispatched", "dispatched", "dispatched"]);
  const refused = await http.send("GET", "/projects/demo/events", undefined, { token: await http.toolToken() });
  expect(refused.status).toBe(403);
});

test("[API-call-leases] a call shows who had it, when, and how that ended", async () => {
  await using http = await startHttpStack();
  const toolCallId = await call(http);
  const show = async () => (await http.send("GET", `/projects/demo/calls/${toolCallId}`)).body;
  expect(await show()).toMatchObject({ attempts: 0, leases: [] });
  await settleAll(http);
  const time = expect.stringMatching(/Z$/);
  const lease = { attempt: 1, holder: "service", started_at: time, ended_at: time, ended: "settled" };
  expect(await show()).toMatchObject({ attempts: 1, leases: [lease] });
});

/** Each ends with an event that it shows. */
const filtered: readonly (readonly [string, string, readonly string[]])[] = [
  ["kind=call", "of unsafe", ["call"]],
  ["kind=state,step", "the last one", ["state"]],
  ["tool_name=unsafe", "of unsafe", ["call"]],
  ["agent_id=ann&kind=state", "the last one", ["state"]],
  ["agent_turn_id=turn_x", "the last one", ["state"]],
];

test("[API-event-filters] a reader is shown the kinds, agents, tools, turns and calls it asks for, and goes on from any of them", async () => {
  await using http = await startHttpStack();
  const { engine } = http.t;
  await engine.profiles.upsertProfile("demo", { name: "plain", worker_target: "crew" });
  await engine.agents.upsertAgent("demo", { agent_id: "ann", profile_name: "plain" });
  const [first, second] = [await call(http), await call(http)];
  await http.send("POST", "/projects/demo/agents/ann/turns", { instruction: "look" });
  await settleAll(http);
  const say = (suffix: string, payload: object) =>
    engine.bus.publish([
      { subject: `cg.v1r4.demo.public.evt.agent.ann.${suffix}`, headers: {}, payload: JSON.stringify(payload) },
    ]);
  await say("call", { tool_name: "unsafe", said: "of unsafe" });
  await say("state", { agent_turn_id: "turn_x", said: "the last one" });
  const kindsIn = (text: string) =>
    new Set([...text.matchAll(/"subject":"[^"]*\.(\w+)"/g)].map(([, word]) => word ?? ""));
  const all = { "last-event-id": "0" };
  for (const [query, last, kinds] of filtered) {
    const reader = await openEvents(http, http.admin, all, query);
    const text = await reader.until(last);
    expect([query, [...kindsIn(text)].sort()]).toEqual([query, kinds]);
    await reader.close();
  }
  const one = await openEvents(http, http.admin, all, `tool_call_id=${second}`);
  const text = await one.until('"settled"');
  expect([phasesIn(text, first), names(phasesIn(text, second))]).toEqual([[], ["dispatched", "leased", "settled"]]);
  await one.close();
});

test("[API-event-gap] a reader whose place was deleted is told so, and then gets what there is", async () => {
  await using http = await startHttpStack();
  const old = await call(http);
  const reader = await openEvents(http, http.admin, { "last-event-id": "0" });
  const [{ id = "" } = {}] = phasesIn(await reader.until('"dispatched"'), old);
  await reader.close();
  const back = await openEvents(http, http.admin, { "last-event-id": id });
  const next = await call(http);
  expect(await back.until(next)).not.toContain("event: gap");
  await back.close();
  await meddle(http.t, "forgetEvents");
  const late = await openEvents(http, http.admin, { "last-event-id": id });
  const last = await call(http);
  const text = await late.until(last);
  expect(text).toMatch(
    /event: gap\ndata: \{"message":"events after this id were deleted[^\n]*"todo":"list calls and turns/,
  );
  expect(text.indexOf("event: gap")).toBeLessThan(text.indexOf(last));
  await late.close();
});

test("[API-parts] the parts of one call are streamed while they are made, then its end; a call that is over ends the stream", async () => {
  await using http = await startHttpStack();
  const toolCallId = await call(http);
  const other = await call(http);
  const leased = await http.t.engine.calls.claim({ projectId: "demo", target: "test", holder: "s", max: 2 });
  const response = await http.raw(`/projects/demo/calls/${toolCallId}/parts`, {
    headers: { authorization: `Bearer ${http.admin}` },
  });
  const reader = readStream(response);
  await reader.until(": connected");
  for (const { facts, lease } of leased)
    await http.send("POST", `/projects/demo/calls/${facts.toolCallId}/parts`, {
      lease: lease.id,
      parts: [{ index: 0, part: `of ${facts.toolCallId}` }],
    });
  const shown = await reader.until(`of ${toolCallId}`);
  for (const one of leased) await http.t.engine.calls.settle(resultFor(one));
  const whole = await reader.untilEnd();
  expect(shown + whole).not.toContain(`of ${other}`);
  expect(whole).toMatch(/event: end\ndata: \{"tool_call_id":"\w+","status":"success"\}\n\n$/);
  const again = await http.raw(`/projects/demo/calls/${toolCallId}/parts`, {
    headers: { authorization: `Bearer ${http.admin}` },
  });
  expect(await again.text()).toMatch(/^: connected\n\nevent: end\n/);
});
