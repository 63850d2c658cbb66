// The client against a server that the test writes, with a clock that the test moves.

import { describe, expect, test } from "vitest";
import { failure, passTime, startWorld, type World } from "../../test/client-world.ts";
import { createManualClock, settle, until } from "../../test/manual-clock.ts";
import type { Answerer, ScriptedAnswer } from "../../test/scripted-server.ts";
import { createHttpPool } from "../http/pool.ts";
import { createApi } from "./api.ts";
import { createApiPlane } from "./connect.ts";
import type { Plane } from "./plane.ts";
import type { RunningTurn, TurnEvent } from "./turn.ts";

const HANG_UP = { hangUp: true } as const;
const made = (status: string, more: object = {}) => ({ body: { tool_call_id: "c-1", status, ...more } });
const sse = (text: string) => ({ text, headers: { "content-type": "text/event-stream" } });

const readAll = async (turn: RunningTurn): Promise<TurnEvent[]> => {
  const events: TurnEvent[] = [];
  for await (const event of turn) events.push(event);
  return events;
};

describe("a turn while the server is away", () => {
  test("[API-6-C7] the wait bounds the start too: the turn is not started after it, and stop answers", async () => {
    await using world = await startWorld((request) =>
      request.path.includes("/why") ? { body: { tool_call_id: "c-1" } } : HANG_UP,
    );
    await world.plane.why("c-1");
    const turn = world.plane.run("helper", "x", { wait: 3 });
    const ended = failure(turn.deliverable());
    const stopped = failure(turn.stop("enough"));
    const looped = failure(readAll(turn));
    const began = world.clock.now();
    expect([(await world.waitFor(ended)).code, (await stopped).code]).toEqual([
      "upstream_unavailable",
      "upstream_unavailable",
    ]);
    expect(await looped).toMatchObject({ code: "upstream_unavailable" });
    expect(world.clock.now() - began).toBeLessThanOrEqual(4_000);
    world.server.answer = () => sse(": connected\nid: 4\n\n");
    await world.clock.advance(60_000);
    expect(world.asked().some((line) => line.startsWith("POST"))).toBe(false);
  });
});

test("[API-6-C7] the loop over a turn throws when the server goes away until the wait is over", async () => {
  const turn = { agent_turn_id: "t-1", status: "running", ended_at: null };
  let opened = 0;
  await using world = await startWorld(({ method, path }) => {
    if (path.includes("/events")) {
      opened += 1;
      return opened === 1 ? sse(": connected\nid: 4\n\n") : HANG_UP;
    }
    return method === "POST" ? { body: turn } : HANG_UP;
  });
  const looped = failure(readAll(world.plane.run("h", "x", { wait: 3 })));
  expect(await world.waitFor(looped)).toMatchObject({ code: "upstream_unavailable" });
});

test("[API-6-C7] a start whose answer was lost gives the events of its turn, also when the turn is over by then", async () => {
  const turn = { agent_turn_id: "t-1", status: "success", ended_at: "2026-11-18T00:00:00Z", deliverable: "done" };
  const task = {
    subject: "cg.v1r4.demo.public.evt.agent.h.task",
    payload: { agent_turn_id: "t-1", status: "success" },
  };
  let opened = 0;
  let starts = 0;
  await using world = await startWorld(({ path }) => {
    if (path.includes("/events")) {
      opened += 1;
      if (opened === 1) return sse(": connected\nid: 4\n\n");
      return opened < 6 ? HANG_UP : sse(`: connected\nid: 5\nevent: evt\ndata: ${JSON.stringify(task)}\n\n`);
    }
    starts += 1;
    return starts === 1 ? HANG_UP : { body: turn };
  });
  const seen = readAll(world.plane.run("h", "x"));
  expect((await world.waitFor(seen)).map(({ type }) => type)).toEqual(["end"]);
});

describe("an aborted call", () => {
  /** The route that makes a call is silent; the list finds it when `found`. */
  const withCalls =
    (found: boolean, cancel: Answerer): Answerer =>
    (request) => {
      if (request.path.endsWith("/cancel")) return cancel(request);
      if (request.method === "POST") return undefined;
      return { body: { items: found ? [{ tool_call_id: "c-1", status: "running" }] : [], next_cursor: null } };
    };
  const abortWhenAsked = async (world: World, call: (signal: AbortSignal) => Promise<unknown>) => {
    const abort = new AbortController();
    const given = failure(call(abort.signal));
    await until(() => world.server.requests.length > 0, "the call is asked for");
    abort.abort();
    return given;
  };

  test("[API-6-C4] one that never arrived is not made by its cancellation", async () => {
    await using world = await startWorld(withCalls(false, () => ({ body: {} })));
    const given = abortWhenAsked(world, (signal) =>
      world.plane.call("once", {}, { signal, cancelOnAbort: true, key: "k/1" }),
    );
    const error = await world.waitFor(given);
    expect(error).toMatchObject({ code: "outcome_unknown", callId: undefined, detail: { idempotency_key: "k/1" } });
    expect(error.message).toContain("has no call with its key");
    expect(world.asked().filter((line) => line.startsWith("POST"))).toEqual(["POST /projects/demo/calls"]);
    expect(world.server.requests[1]?.path).toContain("idempotency_key=k%2F1");
  });

  test("[API-6-C4] a plain abort asks for the id and makes nothing", async () => {
    await using world = await startWorld(withCalls(true, () => ({ body: {} })));
    const error = await abortWhenAsked(world, (signal) => world.plane.call("once", {}, { signal }));
    expect(error).toMatchObject({ code: "canceled", callId: "c-1" });
    expect(world.asked()).toEqual(["POST /projects/demo/calls", "GET /projects/demo/calls"]);
  });

  test.each(["call", "start"] as const)("[API-6-C4] %s: a cancellation that was confirmed", async (door) => {
    await using world = await startWorld(withCalls(true, () => ({ body: { canceled: true, status: "canceled" } })));
    const error = await abortWhenAsked(world, (signal) =>
      world.plane[door]("once", {}, { signal, cancelOnAbort: true }),
    );
    expect(error).toMatchObject({ code: "canceled", callId: "c-1" });
    expect(world.asked()).toContain("POST /projects/demo/calls/c-1/cancel");
  });

  test("[API-6-C4] a cancellation that nobody confirmed is another error, and names the call", async () => {
    await using world = await startWorld(withCalls(true, () => HANG_UP));
    const given = abortWhenAsked(world, (signal) => world.plane.call("once", {}, { signal, cancelOnAbort: true }));
    await until(() => world.asked().length >= 3, "the cancellation is asked for");
    expect(await world.waitFor(given)).toMatchObject({ code: "outcome_unknown", callId: "c-1" });
  });

  test("[API-6-C4] a call that settled before its cancellation is said to have settled", async () => {
    await using world = await startWorld(withCalls(true, () => ({ body: { canceled: false, status: "success" } })));
    const error = await abortWhenAsked(world, (signal) =>
      world.plane.call("once", {}, { signal, cancelOnAbort: true }),
    );
    expect(error).toMatchObject({ code: "canceled", callId: "c-1", detail: { status: "success" } });
  });

  test("[API-6-C4] what was not sent is not looked for", async () => {
    await using world = await startWorld(() => undefined);
    const abort = new AbortController();
    const given = failure(world.plane.call("once", {}, { signal: abort.signal, cancelOnAbort: true }));
    abort.abort();
    expect(await given).toMatchObject({ code: "canceled", callId: undefined });
    await settle();
    expect(world.asked()).toEqual([]);
  });
});

describe("a server that is not there", () => {
  test("[API-6-C1] a mistake of the program is no answer of the server: the client gives up after five seconds", async () => {
    const clock = createManualClock();
    const pool = createHttpPool({ url: "http://127.0.0.1:3" });
    const api = createApi({ url: "http://127.0.0.1:3", send: pool.send, readToken: () => "secret" });
    await using plane = createApiPlane({ api, projectId: "demo", clock, random: () => 0.5, close: pool.close });
    expect(await failure(plane.call("echo", { n: 1n }))).toMatchObject({ code: "bad_request" });
    const began = clock.now();
    const given = failure(plane.call("echo", {}, { wait: 3_600 }));
    expect(await passTime(clock, given)).toMatchObject({ code: "upstream_unavailable" });
    expect(clock.now() - began).toBeLessThanOrEqual(6_000);
  });
});

describe("answers that no Toolplane server gives", () => {
  const HTML = { text: "<html>login please</html>", headers: { "content-type": "text/html" } };
  const OTHERS: readonly (readonly [string, ScriptedAnswer])[] = [
    ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:3/" } }],
    ["a page", HTML],
    ["an empty object", { body: {} }],
  ];
  const first = async (plane: Plane): Promise<unknown> => {
    for await (const event of plane.events()) return event;
    return "the end";
  };

  test.each(OTHERS)("[API-6-C1] %s: every door says so at once", async (_, answer) => {
    await using world = await startWorld(() => answer);
    const { plane } = world;
    const both = () => Promise.all([plane.call("echo"), plane.call("echo")]);
    for (const door of [() => plane.call("echo"), both, () => plane.tools(), () => first(plane)]) {
      const { code, message } = await failure(door());
      expect(code).toBe("upstream_unavailable");
      expect(message).toMatch(/not as a Toolplane server does/);
    }
  });

  test("[API-6-C6] streams that all end before their first event are an error, not silence", async () => {
    await using world = await startWorld(() => sse(": hello\n"));
    expect(await world.waitFor(failure(first(world.plane)))).toMatchObject({ code: "upstream_unavailable" });
  });

  test("[API-6-C1] a success without an id is none", async () => {
    await using world = await startWorld(() => ({ body: { status: "success", result: 1 } }));
    expect(await failure(world.plane.call("echo"))).toMatchObject({ code: "upstream_unavailable" });
    expect((await failure(world.plane.call("echo"))).message).toContain("tool_call_id");
  });

  test("[API-6-C8] a list that gives the same cursor again ends", async () => {
    await using world = await startWorld(() => ({ body: { items: [], next_cursor: "same" } }));
    expect(await failure(world.plane.tools())).toMatchObject({ code: "upstream_unavailable" });
  });
});

describe("what a caller gives is checked before anything is sent", () => {
  test.each([
    ["a wait below zero", (plane: Plane) => plane.call("echo", {}, { wait: -1 }), "wait is a number of seconds"],
    ["a wait that is a word", (plane: Plane) => plane.call("echo", {}, { wait: "5s" as never }), "wait is a number"],
    [
      "no number of a turn",
      (plane: Plane) => plane.run("a", "x", { wait: Number.NaN }).deliverable(),
      "wait is a number",
    ],
    ["an unknown option", (plane: Plane) => plane.call("echo", {}, { timeout: 3 } as never), "there is no key timeout"],
    [
      "one of start",
      (plane: Plane) => plane.start("echo", {}, { wait: 3 } as never),
      "there is no key wait; the keys are key, agent, at",
    ],
    ["one of wait", (plane: Plane) => plane.wait("c-1", { timeout: 3 } as never), "there is no key timeout"],
    [
      "a time that is none",
      (plane: Plane) => plane.call("echo", {}, { at: new Date(Number.NaN) }),
      "the option at must be a valid Date",
    ],
    [
      "a time as text",
      (plane: Plane) => plane.call("echo", {}, { at: "tomorrow" as never }),
      "the option at must be a valid Date",
    ],
    ["a wait as text", (plane: Plane) => plane.call("echo", {}, { wait: "5" as never }), 'not "5"'],
    ["a list of arguments", (plane: Plane) => plane.call("echo", [1]), "not a list"],
    ["a value that JSON changes", (plane: Plane) => plane.start("echo", { a: [Number.NaN] }), "NaN at $.a[0]"],
    ["no tool", (plane: Plane) => plane.call(""), "the name of a tool"],
    ["an undefined tool", (plane: Plane) => plane.start(undefined as never), "the name of a tool"],
    ["an empty key", (plane: Plane) => plane.call("echo", {}, { key: "" }), "the key"],
    ["an empty key of a turn", (plane: Plane) => plane.run("a", "x", { key: "" }).deliverable(), "the key"],
    ["an empty id", (plane: Plane) => plane.read(""), "the id of a call"],
    ["a path", (plane: Plane) => plane.cancel(".."), "the id of a call"],
    ["no id", (plane: Plane) => plane.wait(undefined as never), "the id of a call"],
    ["none to explain", (plane: Plane) => plane.why("."), "the id of a call"],
  ])("[SEE-21] %s", async (_, ask, words) => {
    await using world = await startWorld(() => made("success"));
    const error = await failure(ask(world.plane));
    expect([error.code, world.asked()]).toEqual(["bad_request", []]);
    expect(error.message).toContain(words);
  });

  test("[SEE-21] callMany names the fault of each call", async () => {
    await using world = await startWorld(() => made("success"));
    const said: string[] = [];
    const calls = [{ tool: "echo", at: new Date(Number.NaN) }, { tool: "" }, { tool: "echo", key: "" }];
    for await (const { error } of world.plane.callMany(calls)) said.push(`${error?.code}: ${error?.message}`);
    expect(said.toSorted()).toEqual([
      expect.stringMatching(/^bad_request: the key/),
      expect.stringMatching(/^bad_request: the name of a tool/),
      expect.stringMatching(/^bad_request: the option at must be a valid Date/),
    ]);
    expect(world.asked()).toEqual([]);
  });
});

test("[API-6-C7] the loop over a turn that is over ends without an error, also while its events cannot be had", async () => {
  const turn = { agent_turn_id: "t-1", status: "success", ended_at: "2026-11-18T00:00:00Z", deliverable: "done" };
  let opened = 0;
  await using world = await startWorld(({ path }) => {
    if (!path.includes("/events")) return { body: turn };
    opened += 1;
    return opened === 1 ? sse(": connected\nid: 4\n\n") : { hangUp: true };
  });
  const running = world.plane.run("h", "x", { key: "used" });
  expect(await world.waitFor(readAll(running))).toEqual([]);
  expect(await running.deliverable()).toBe("done");
});

test("[API-6-C7] a turn that was stopped is canceled, and says so", async () => {
  const turn = { agent_turn_id: "t-1", status: "failed", ended_at: "2026-11-18T00:00:00Z" };
  await using world = await startWorld((request) =>
    request.path.includes("/events")
      ? sse(": connected\nid: 4\n\n")
      : { body: { ...turn, error: { code: "stopped", message: "enough" } } },
  );
  expect(await failure(world.plane.run("h", "x").deliverable())).toMatchObject({
    code: "canceled",
    message: "enough",
    detail: { code: "stopped", agent_turn_id: "t-1" },
  });
});
