// The events of calls as people read them: over HTTP, from any event on, and only their own.

import { resultFor, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openEvents } from "./event-reader.ts";
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
