// The client of callers against a real server and real tools.

import { connect, type Outcome, ToolplaneError } from "@toolplane/sdk/client";
import { eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CallerWorld, startCallerWorld } from "./world.ts";

const failure = async (promise: Promise<unknown>): Promise<ToolplaneError> => {
  const error = await promise.then(
    () => expect.unreachable("it succeeded"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ToolplaneError);
  return error as ToolplaneError;
};

describe("what a call gives", () => {
  let world: CallerWorld;
  beforeAll(async () => {
    world = await startCallerWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("[API-6-C1] the result", async () => {
    expect(await world.plane.call("double", { n: 21 })).toBe(42);
  });

  test.each([
    ["wrong arguments", "double", { n: "many" }, { code: "bad_request", retryable: false }],
    ["no such tool", "triple", { n: 1 }, { code: "not_found", retryable: false }],
    ["a code of the table", "refuse", { code: "rate_limited" }, { code: "rate_limited", retryable: true }],
    [
      "a code of its own",
      "refuse",
      { code: "sold_out" },
      { code: "tool_error", detail: { code: "sold_out", tried: 1 } },
    ],
    ["what JSON cannot say", "double", { n: 1n }, { code: "bad_request", message: expect.stringContaining("BigInt") }],
    ["half a result", "half", {}, { code: "tool_error", detail: { status: "partial", result: [1] } }],
  ])("[API-6-C1] a typed error for %s", async (_, tool, args, expected) => {
    const error = await failure(world.plane.call(tool, args));
    expect(error).toMatchObject(expected);
    const isMade = tool === "refuse" || tool === "half";
    expect(error.callId === undefined).toBe(!isMade);
    if (error.callId !== undefined) expect((await world.plane.read(error.callId)).tool_call_id).toBe(error.callId);
  });

  test("[API-6-C1] a token that is not one, and a server that is not there", async () => {
    const { url } = world.proxy;
    expect(await failure(connect({ url, token: "nonsense" }).call("double", { n: 1 }))).toMatchObject({
      code: "unauthorized",
    });
    const nobody = connect({ url: "http://127.0.0.1:9", token: "x", startupMs: 0 });
    expect(await failure(nobody.call("double", { n: 1 }))).toMatchObject({
      code: "upstream_unavailable",
      message: "no server answers at http://127.0.0.1:9; start it with: toolplane up, or connect to another url",
    });
  });

  test("[API-6-C1] the same key with other arguments is refused, with the same ones it is the same call", async () => {
    expect(await world.plane.call("double", { n: 5 }, { key: "five" })).toBe(10);
    const before = world.runs.length;
    expect(await world.plane.call("double", { n: 5 }, { key: "five" })).toBe(10);
    expect(world.runs.length).toBe(before);
    expect(await failure(world.plane.call("double", { n: 6 }, { key: "five" }))).toMatchObject({
      code: "idempotency_conflict",
    });
  });

  test("[API-6-C2] an answer that is lost costs time only: the tool runs once", async () => {
    const before = world.runs.length;
    const lost = world.proxy.loseAnswer('"result":246');
    expect(await world.plane.call("double", { n: 123 })).toBe(246);
    await lost;
    expect(world.runs.slice(before)).toEqual([123]);
  });

  test("[API-6-C3] a thousand calls at once travel in few requests, and each has its own answer", async () => {
    const before = world.proxy.count("POST /projects/demo/calls");
    const results = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => world.plane.call("double", { n }, { wait: 120 })),
    );
    expect(results).toEqual(Array.from({ length: 1_000 }, (_, n) => n * 2));
    expect(world.proxy.count("POST /projects/demo/calls") - before).toBeLessThanOrEqual(8);
  });

  test("[API-6-C9] callMany gives each outcome with its place; why and tools answer", async () => {
    const outcomes: Outcome[] = [];
    for await (const outcome of world.plane.callMany([
      { tool: "double", args: { n: 1 } },
      { tool: "refuse", args: { code: "sold_out" } },
      { tool: "double", args: { n: 3 } },
    ]))
      outcomes.push(outcome);
    const sorted = outcomes.toSorted((a, b) => a.index - b.index);
    expect(sorted).toMatchObject([{ result: 2 }, { error: { code: "tool_error" } }, { result: 6 }]);
    const callId = sorted[1]?.error?.callId ?? "";
    expect(await world.plane.why(callId)).toMatchObject({ tool_call_id: callId, status: "failed" });
  });

  test("[API-6-C4] a client that is closed answers whoever waits, and asks nothing more", async () => {
    const { url } = world.proxy;
    const other = connect({ url, token: world.http.admin });
    const slow = other.call("slow", { own: 5 }, { wait: 60 });
    await eventually(() => world.runs.some((run) => (run as { own?: number }).own === 5));
    await other.close();
    expect(await failure(slow)).toMatchObject({ code: "canceled", message: "the client was closed" });
    expect(await failure(other.call("double", { n: 1 }))).toMatchObject({ code: "canceled" });
  });

  test("[API-6-C8] the tools as models take them", async () => {
    const tools = await world.plane.tools();
    expect(tools.openai().find((tool) => tool.function.name === "double")).toMatchObject({
      type: "function",
      function: { description: "Twice a number", parameters: { required: ["n"] } },
    });
    expect(tools.anthropic().find(({ name }) => name === "double")).toMatchObject({
      input_schema: { type: "object", required: ["n"] },
    });
    expect(await tools.ai().double?.execute({ n: 4 })).toBe(8);
  });

  test("[API-6-C6] events go on after the last one when the connection is cut", async () => {
    const { engine } = world.http.t;
    const said = async (n: number): Promise<void> => {
      const subject = "cg.v1r4.demo.public.evt.agent.someone.state";
      await engine.bus.publish([{ subject, headers: {}, payload: JSON.stringify({ n }) }]);
    };
    const seen: unknown[] = [];
    const enough = new AbortController();
    const heard = (async () => {
      for await (const { subject, payload } of world.plane.events({ signal: enough.signal })) {
        if (subject.endsWith(".state")) seen.push((payload as { n: number }).n);
        if (seen.at(-1) === 3) enough.abort();
      }
    })();
    // Said until it is heard: from then on the connection stands.
    await eventually(async () => {
      await said(0);
      return seen.length > 0;
    });
    world.proxy.cut();
    await said(1);
    await eventually(() => seen.includes(1));
    world.proxy.cut();
    await said(2);
    await said(3);
    await heard;
    expect(seen.filter((n) => n !== 0)).toEqual([1, 2, 3]);
  });
});

describe("slow calls", () => {
  let world: CallerWorld;
  beforeAll(async () => {
    world = await startCallerWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("[API-6-C3] a slow call holds up no fast one of the same moment", async () => {
    const slow = world.plane.call("slow");
    const fast = Array.from({ length: 10 }, (_, n) => world.plane.call("double", { n }));
    expect(await Promise.all(fast)).toHaveLength(10);
    expect(world.proxy.count("POST /projects/demo/calls/batch")).toBe(1);
    const still = await failure(world.plane.call("slow", { own: 1 }, { wait: 0.05 }));
    expect(still).toMatchObject({ code: "still_running", retryable: true, callId: expect.any(String) });
    const abort = new AbortController();
    const given = world.plane.call("slow", { own: 2 }, { signal: abort.signal, key: "given-up" });
    const stopped = world.plane.call("slow", { own: 3 }, { signal: abort.signal, cancelOnAbort: true });
    await eventually(() => world.runs.length === 14);
    abort.abort();
    const givenUp = await Promise.all([failure(given), failure(stopped)]);
    expect(givenUp.map(({ code }) => code)).toEqual(["canceled", "canceled"]);
    // An aborted wait keeps the id of the call that goes on.
    const left = givenUp[0]?.callId ?? "";
    expect((await world.plane.read(left)).idempotency_key).toBe("given-up");
    const leftAgain = await failure(world.plane.wait(left, { signal: AbortSignal.timeout(20) }));
    expect([leftAgain.code, leftAgain.callId]).toEqual(["canceled", left]);
    // Only the one whose caller asked for it is canceled on the plane.
    await eventually(() => world.aborted.length > 0);
    expect(world.aborted).toEqual([{ own: 3 }]);
    const canceled = await world.plane.start("slow", { own: 4 });
    expect(await world.plane.cancel(String(canceled.tool_call_id), "enough")).toEqual({
      canceled: true,
      status: "canceled",
    });
    expect(await failure(world.plane.wait(String(canceled.tool_call_id)))).toMatchObject({ code: "canceled" });
    world.release();
    expect(await slow).toBe("at last");
    expect(await world.plane.wait(still.callId ?? "")).toBe("at last");
    expect(await world.plane.call("slow", { own: 2 }, { key: "given-up" })).toBe("at last");
  });

  test("[API-6-C4] a signal that was aborted before sends nothing", async () => {
    const before = world.proxy.count("POST ");
    const error = await failure(world.plane.call("double", { n: 1 }, { signal: AbortSignal.abort() }));
    expect([error.code, world.proxy.count("POST ") - before]).toEqual(["canceled", 0]);
  });
});

describe("aborted calls", () => {
  let world: CallerWorld;
  const madeWith = (idempotencyKey: string) =>
    world.http.t.engine.calls.list("demo", { toolName: "slow", agentId: "sys.api", idempotencyKey });
  beforeAll(async () => {
    world = await startCallerWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("[API-6-C4] a request that is lost on its way is not made by its own cancellation", async () => {
    const abort = new AbortController();
    const swallowed = world.proxy.loseRequest('"own":77');
    const { signal } = abort;
    const given = failure(world.plane.call("slow", { own: 77 }, { signal, cancelOnAbort: true, key: "lost" }));
    await swallowed;
    abort.abort();
    expect(await given).toMatchObject({ code: "outcome_unknown", callId: undefined });
    expect([world.runs, await madeWith("lost")]).toEqual([[], []]);
  });

  test("[API-6-C4] whenever the abort comes, a call that was made is canceled", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const key = `at-${n}`;
        const signal = AbortSignal.timeout(n * 2);
        const error = await failure(world.plane.call("slow", { n }, { signal, cancelOnAbort: true, key }));
        return { error, made: await madeWith(key) };
      }),
    );
    const canceled = outcomes.filter(({ made }) => made.length > 0);
    expect(canceled.length).toBeGreaterThan(0);
    for (const { error, made } of canceled)
      expect([error.code, error.callId, made[0]?.status]).toEqual(["canceled", made[0]?.toolCallId, "canceled"]);
  });
});

test("[API-6-C3] [API-6-C4] many requests that wait for slow calls are gathered, and no call is lost", async () => {
  await using world = await startCallerWorld();
  const slow: Promise<unknown>[] = [];
  for (let n = 0; n < 40; n += 1) {
    slow.push(world.plane.call("slow", { n }));
    // Each in a moment of its own: a request of its own.
    await eventually(() => world.runs.length > n);
  }
  await eventually(() => world.proxy.open() < 20);
  world.release();
  expect(await Promise.all(slow)).toEqual(Array.from({ length: 40 }, () => "at last"));
  expect(world.runs).toHaveLength(40);
});
