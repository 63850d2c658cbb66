// What hosts/python/toolplane.py promises when the plane behaves as no plane should: lost answers, lost leases, refusals.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@toolplane/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Program } from "../cli/program.ts";
import { requirePython, startPython } from "./programs.ts";
import { commandFor, type ScriptedPlane, startScriptedPlane } from "./scripted-plane.ts";

const PATIENCE_MS = 60_000;

let plane: ScriptedPlane;
let service: Program;
let marks: string;

beforeAll(() => {
  requirePython();
  marks = mkdtempSync(join(tmpdir(), "toolplane-marks-"));
});
afterAll(() => {
  rmSync(marks, { recursive: true, force: true });
});
beforeEach(async () => {
  plane = await startScriptedPlane();
  service = await startPython("tests/examples/services/odd_tools.py", {
    url: plane.url,
    token: "secret-token",
    env: { MARKS: marks, DRAIN: "0.2" },
  });
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await plane[Symbol.asyncDispose]();
});

const results = (call: string) => plane.requests(`/calls/${call}/result`);
const bodyOf = (call: string, index = 0): Record<string, unknown> =>
  JSON.parse(results(call)[index]?.body ?? "{}") as Record<string, unknown>;
const untilResults = (call: string, count = 1) =>
  until(`result ${count} of ${call}`, () => results(call).length >= count, PATIENCE_MS);
const marked = (start: string): boolean => readdirSync(marks).some((name) => name.startsWith(start));
const untilMarked = (start: string) => until(start, () => marked(start), PATIENCE_MS);
/** A call that was handed out later has a result: what had to come before it has come. */
const untilQuiet = async (): Promise<void> => {
  plane.offer(commandFor({ call: "quiet", tool: "give" }));
  await untilResults("quiet");
};

describe("a result", () => {
  test("[HOSTPY-15] is sent again, byte for byte the same, until the server has answered", async () => {
    plane.script(
      "/calls/a/result",
      { hangUp: true },
      { status: 503, body: { error: { code: "storage_error", message: "no" } } },
      { status: 429 },
    );
    plane.offer(commandFor({ call: "a", tool: "give", args: { value: { x: 1 } } }));
    await untilResults("a", 4);
    await untilQuiet();
    expect(new Set(results("a").map(({ body }) => body)).size).toBe(1);
    expect(results("a")).toHaveLength(4);
    expect(bodyOf("a")).toEqual({ lease: "lease-a", status: "success", result: { x: 1 }, definition_hash: "hash" });
  });

  test.each([409, 404, 403])("[HOSTPY-16] that is refused with %d is not sent again", async (status) => {
    plane.script("/calls/a/result", { status, body: { error: { code: "lease_lost", message: "gone" } } });
    plane.offer(commandFor({ call: "a", tool: "give" }));
    await untilResults("a");
    await untilQuiet();
    expect(results("a")).toHaveLength(1);
  });

  test("[HOSTPY-17] carries a span of its own in the command's trace", async () => {
    plane.offer(commandFor({ call: "a", tool: "give" }));
    await untilResults("a");
    const header = String(results("a")[0]?.headers.traceparent);
    expect(header).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(header).not.toContain("b7ad6b7169203331");
  });
});

test("[HOSTPY-27] a failure under a retry policy is reported after one run, with all that the plane needs to pause", async () => {
  plane.offer(commandFor({ call: "a", tool: "governed", args: { failures: 9, pause: 7 } }));
  await untilResults("a");
  const error = { code: "sold_out", message: "not now", retryable: true, detail: { retry_after_seconds: 7 } };
  expect(bodyOf("a")).toMatchObject({ status: "failed", error });
  expect(readdirSync(marks).filter((name) => name.startsWith("governed-a"))).toHaveLength(1);
});

describe("an exchange", () => {
  interface Item {
    readonly tool_call_id: string;
    readonly lease: string;
    readonly traceparent?: string;
    readonly result?: unknown;
  }
  const exchanged = (list: string): readonly Item[] =>
    plane
      .requests("/tool-services/odd/exchange")
      .flatMap(({ body }) => (JSON.parse(body) as Record<string, readonly Item[]>)[list] ?? []);

  test("[HOSTPY-exchange] carries results and heartbeats of many calls, and the single routes are not used", async () => {
    plane.takeExchanges();
    const calls = ["a", "b", "c"];
    plane.offer(
      ...calls.map((call) => commandFor({ call, tool: "give", args: { value: call } })),
      commandFor({ call: "slow", tool: "wait_safe", args: { seconds: 600, name: "slow" } }),
    );
    await until("three results", () => exchanged("results").length >= 3, PATIENCE_MS);
    await until("a heartbeat", () => exchanged("heartbeats").length >= 1, PATIENCE_MS);
    const sent = [...exchanged("results")].sort((a, b) => (a.tool_call_id < b.tool_call_id ? -1 : 1));
    expect(sent).toMatchObject(calls.map((call) => ({ tool_call_id: call, lease: `lease-${call}`, result: call })));
    expect(sent[0]?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(exchanged("heartbeats")[0]).toEqual({ tool_call_id: "slow", lease: "lease-slow" });
    expect([...plane.requests("/result"), ...plane.requests("/heartbeat")]).toEqual([]);
  });

  test("[HOSTPY-exchange] that fails as a whole is sent again by the route of each call, the same", async () => {
    plane.takeExchanges();
    plane.script("/exchange", { status: 503, body: { error: { code: "storage_error", message: "away" } } });
    plane.offer(commandFor({ call: "a", tool: "give", args: { value: 1 } }));
    await untilResults("a");
    const { tool_call_id, traceparent, ...first } = exchanged("results")[0] ?? expect.unreachable();
    expect(bodyOf("a")).toEqual(first);
    expect([tool_call_id, traceparent]).toEqual(["a", results("a")[0]?.headers.traceparent]);
  });

  test("[HOSTPY-exchange] that refuses one item refuses that one alone", async () => {
    plane.takeExchanges();
    const lost = { tool_call_id: "a", error: { code: "lease_lost", message: "gone" } };
    plane.script("/exchange", { body: { results: [lost], heartbeats: [], releases: [], commands: [] } });
    plane.offer(commandFor({ call: "a", tool: "give" }));
    await until("the refusal", () => service.err().includes("the result of call a was not accepted"), PATIENCE_MS);
    plane.offer(commandFor({ call: "b", tool: "give" }));
    await until("the next result", () => exchanged("results").some((item) => item.tool_call_id === "b"), PATIENCE_MS);
    expect(results("a")).toEqual([]);
  });
});

test("[HOSTPY-25] a connection the server has closed meanwhile costs no time and no warning", async () => {
  for (const call of ["a", "b", "c"]) {
    await until(
      "all but the claim's connection to be closed",
      async () => (await plane.connections()) <= 1,
      PATIENCE_MS,
    );
    plane.offer(commandFor({ call, tool: "give" }));
    await untilResults(call);
  }
  expect(service.err()).not.toMatch(/WARNING|trying again/);
});

describe("the server's word", () => {
  test.each([
    ["cancel", { body: { expires_at: null, cancel: true } }],
    ["lease_lost", { status: 409, body: { error: { code: "lease_lost", message: "another service holds it" } } }],
  ])("[HOSTPY-18] %s in a heartbeat stops the tool, and nothing is reported", async (word, reply) => {
    plane.script("/calls/a/heartbeat", reply);
    plane.offer(commandFor({ call: "a", tool: "wait_unsafe", args: { seconds: 600, name: `word-${word}` } }));
    await untilMarked(`word-${word}-cancelled`);
    await untilQuiet();
    expect(results("a")).toEqual([]);
  });

  test("[HOSTPY-19] a server that is away takes nothing: the tool runs on, and its result is delivered", async () => {
    plane.script("/calls/a/heartbeat", { hangUp: true }, { status: 503 }, { hangUp: true });
    plane.offer(commandFor({ call: "a", tool: "wait_unsafe", args: { seconds: 4, name: "away" } }));
    await untilResults("a");
    expect(bodyOf("a")).toMatchObject({ status: "success" });
    expect(plane.requests("/calls/a/heartbeat").length).toBeGreaterThan(3);
    expect(marked("away-cancelled")).toBe(false);
  });

  test("[HOSTPY-20] a call past its deadline is reported once, as timed out, though the tool returns later", async () => {
    // The plane ends the call a moment before the service does.
    plane.script("/calls/a/result", { status: 409, body: { error: { code: "already_settled", message: "timeout" } } });
    plane.offer(commandFor({ call: "a", tool: "deaf", args: { seconds: 2.5 }, runSeconds: 1 }));
    await untilResults("a");
    await untilMarked("deaf-told");
    await untilQuiet();
    expect(results("a")).toHaveLength(1);
    expect(service.err()).not.toContain("was not accepted");
    expect(bodyOf("a")).toMatchObject({ status: "timeout", error: { code: "tool_timeout" } });
  });
});

describe("a command", () => {
  test.each([
    ["inline arguments", { arguments: {} }, "protocol_violation"],
    ["inline args", { args: {} }, "protocol_violation"],
    ["an inline result", { result: 1 }, "protocol_violation"],
    ["no after_execution", { after_execution: "" }, "bad_request"],
    ["another card than the call's", { tool_call_card_id: "card-other" }, "not_found"],
    ["a tool this service does not have", { tool_name: "strange" }, "not_found"],
  ])("[HOSTPY-21] with %s is answered as failed, and the tool does not run", async (_, payload, code) => {
    plane.offer(commandFor({ call: "a", tool: "throw", args: { kind: "tool" }, payload }));
    await untilResults("a");
    expect(bodyOf("a")).toMatchObject({ status: "failed", error: { code } });
    expect(marked("throw")).toBe(false);
  });

  test("[HOSTPY-22] that comes when the service stops is given back, unstarted", async () => {
    plane.holdClaims();
    plane.offer(commandFor({ call: "a", tool: "wait_unsafe", args: { seconds: 600, name: "unstarted-a" } }));
    await untilMarked("unstarted-a-started");
    await until("an open claim", plane.claimIsOpen, PATIENCE_MS);
    service.signal("SIGTERM");
    await service.until("its word that it stops", (_, err) => (err.includes("stopping") ? true : undefined));
    plane.offer(commandFor({ call: "b", tool: "wait_unsafe", args: { seconds: 600, name: "unstarted-b" } }));
    expect((await service.ended).code).toBe(0);
    expect(plane.requests("/calls/b/").map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ["/calls/b/release", { lease: "lease-b" }],
    ]);
    expect(marked("unstarted-b")).toBe(false);
  });

  test("[HOSTPY-11] that SIGTERM meets in its own thread ends the service as well, after its result", async () => {
    plane.offer(commandFor({ call: "a", tool: "take_signal" }));
    expect((await service.ended).code).toBe(0);
    expect(bodyOf("a")).toMatchObject({ status: "success", result: "taken" });
  });

  test("[HOSTPY-23] calls of one claim share a lease and are still told apart when the service stops", async () => {
    const waiting = (call: string) =>
      commandFor({ call, tool: "wait_unsafe", lease: "one", args: { seconds: 600, name: `shared-${call}` } });
    plane.offer(waiting("a"), waiting("b"), waiting("c"));
    for (const call of ["a", "b", "c"]) await untilMarked(`shared-${call}-started`);
    service.signal("SIGTERM");
    expect((await service.ended).code).toBe(0);
    for (const call of ["a", "b", "c"])
      expect(bodyOf(call)).toMatchObject({ lease: "one", error: { code: "canceled" } });
  });
});

test("[HOSTPY-24] a token that is refused later ends the service with one line and no traceback", async () => {
  plane.script("/claim", { status: 401, body: { error: { code: "unauthorized", message: "the token is revoked" } } });
  expect((await service.ended).code).toBe(1);
  expect(service.err()).toMatch(/^toolplane: unauthorized: the token is revoked$/m);
  expect(service.err()).not.toContain("Traceback");
  expect(service.err()).not.toContain("secret-token");
});
