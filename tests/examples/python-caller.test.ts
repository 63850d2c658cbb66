// connect() of hosts/python/toolplane.py when the plane goes away, and with arguments that do not fit: what was sent is said, and
// one call of many does not fail the others.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { until } from "@toolplane/testkit";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runProgram, startProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";
import { requirePython } from "./programs.ts";
import { type Reply, startScriptedPlane } from "./scripted-plane.ts";

beforeAll(requirePython);

const START = `
import json, math
from toolplane import ToolplaneError, connect
plane = connect()
def show(error):
    print(json.dumps([error.code, error.message, error.detail, error.call_id, error.retryable]))
def failing(ask):
    try:
        print("no error", ask())
    except ToolplaneError as error:
        show(error)
`;
const NOWHERE = "http://127.0.0.1:3";

const run = async (url: string, program: string): Promise<readonly string[]> => {
  const env = { TOOLPLANE_URL: url, TOOLPLANE_TOKEN: "t", PYTHONPATH: join(ROOT, "hosts/python") };
  const { code, out, err } = await runProgram(["python3", "-c", START + program], { cwd: ROOT, env });
  expect([code, err]).toEqual([0, ""]);
  return out.trim().split("\n");
};
const said = async (url: string, program: string): Promise<readonly unknown[]> =>
  (await run(url, program)).map((line) => JSON.parse(line) as unknown);

describe("a plane that goes away and stays away", () => {
  const KEY = { idempotency_key: expect.stringMatching(/^python-[0-9a-f]{32}$/) };
  const NOT_SENT = expect.stringContaining("no server answers at");
  const MAYBE = expect.stringMatching(/^the call may have been made and may be running.*idempotency_key/);

  /** Takes requests, and is gone after that many. */
  const goneAfter = async (count: number, program: string, body?: object): Promise<readonly unknown[]> => {
    const plane = await startScriptedPlane();
    const leave = async (): Promise<void> => {
      await until("the request", () => plane.requests("/calls").length >= count, 60_000);
      await plane[Symbol.asyncDispose]();
    };
    plane.script("/calls", ...(body === undefined ? [] : [{ body }]), ...Array<Reply>(50).fill({ hangUp: true }));
    const [lines] = await Promise.all([said(plane.url, program), leave()]);
    return lines;
  };

  test("[API-6-P1] a call whose request was sent ends as outcome_unknown, with its key", async () => {
    expect(await goneAfter(1, `failing(lambda: plane.call("any", wait=1))`)).toEqual([
      ["outcome_unknown", MAYBE, expect.objectContaining(KEY), null, false],
    ]);
    expect(await goneAfter(1, `failing(lambda: plane.call("any", key="mine", wait=1))`)).toEqual([
      ["outcome_unknown", MAYBE, expect.objectContaining({ idempotency_key: "mine" }), null, false],
    ]);
  });

  test("[API-6-P1] a call that was made keeps its id in the error", async () => {
    const made = { tool_call_id: "c-1", status: "running" };
    const [call] = await goneAfter(2, `failing(lambda: plane.call("any", wait=1))`, made);
    const message = expect.stringMatching(/^call c-1 was made and may be running/);
    expect(call).toEqual(["outcome_unknown", message, expect.objectContaining(KEY), "c-1", false]);
    const [waited] = await goneAfter(1, `failing(lambda: plane.wait("c-2", wait=1))`);
    expect(waited).toEqual(["upstream_unavailable", NOT_SENT, { todo: expect.any(String) }, "c-2", false]);
  });

  test("[API-6-P1] a refusal that may pass, after a request whose answer was lost, leaves the outcome unknown", async () => {
    await using plane = await startScriptedPlane();
    const error = { code: "rate_limited", message: "later", detail: { retry_after_seconds: 9 } };
    plane.script("/calls", { hangUp: true }, { status: 429, body: { error } });
    const [call] = await said(plane.url, `failing(lambda: plane.call("any", wait=3))`);
    expect(call).toEqual(["outcome_unknown", MAYBE, expect.objectContaining(KEY), null, false]);
  });

  test("[API-6-P1] many calls whose request was sent end as outcome_unknown, each with its own key", async () => {
    const program = `
for index, outcome in plane.call_many([("any", {}), ("any", {})], wait=1):
    show(outcome)`;
    const lines = (await goneAfter(1, program)) as readonly (readonly [string, string, { idempotency_key: string }])[];
    expect(lines).toEqual([1, 2].map(() => ["outcome_unknown", MAYBE, expect.objectContaining(KEY), null, false]));
    expect(new Set(lines.map(([, , detail]) => detail.idempotency_key)).size).toBe(2);
  });

  test("[API-6-P1] what was never sent ends as upstream_unavailable, with its key", async () => {
    const program = `
plane._began -= 60
failing(lambda: plane.call("any", wait=1))
for index, outcome in plane.call_many([("any", {}), ("any", {})], wait=1):
    show(outcome)`;
    expect(await said(NOWHERE, program)).toEqual(
      [1, 2, 3].map(() => ["upstream_unavailable", NOT_SENT, expect.objectContaining(KEY), null, false]),
    );
  });

  test("a Python service says which address it asks in vain", async () => {
    const env = { TOOLPLANE_URL: NOWHERE, TOOLPLANE_TOKEN: "t", PYTHONPATH: join(ROOT, "hosts/python") };
    await using service = await startProgram(["python3", "examples/python-tool/text_tools.py"], { cwd: ROOT, env });
    const warning = `the server at ${NOWHERE} does not answer (ConnectionRefusedError); trying again`;
    await service.until("its warning", (_, err) => (err.includes(warning) ? true : undefined));
  });

  test("[API-6-P1] the last try is made when the wait is over", async () => {
    // A clock that only sleeping moves.
    const program = `
import types, toolplane
clock, tries = [0.0], []
def sleep(seconds):
    clock[0] += seconds
toolplane.time = types.SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep, time=lambda: clock[0])
plane = connect()
plane._answered = True
def request(*_, **__):
    tries.append(clock[0])
    raise toolplane.ApiError(0, "upstream_unavailable", "away") from ConnectionRefusedError()
plane._client.request = request
for wait in (1, 6, 60):
    begun = clock[0]
    failing(lambda: plane.call("any", wait=wait))
    print(json.dumps([round(wait - (tries[-1] - begun), 3)]))`;
    const rests = (await said(NOWHERE, program)).filter((line): line is [number] => (line as unknown[]).length === 1);
    expect(rests).toHaveLength(3);
    // Less than the shortest pause is left.
    for (const [rest] of rests) expect(rest).toBeLessThan(0.1);
  });
});

interface Item {
  readonly tool_name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly idempotency_key: string;
  readonly wait_seconds: number;
}

/** A plane of one route: it makes the calls of a batch, and a call is over when it is waited for. In the first request it has no room for "busy", and "slow" goes on. */
const startBatchPlane = async () => {
  const requests: { readonly bytes: number; readonly items: readonly Item[] }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const items = JSON.parse(text) as readonly Item[];
      requests.push({ bytes: text.length, items });
      const status = text.length > 16 * 1024 * 1024 ? 413 : 200;
      response.writeHead(status, { "content-type": "application/x-ndjson" });
      if (status === 413) response.end(JSON.stringify({ error: { code: "payload_too_large", message: "too large" } }));
      else
        for (const [index, { tool_name: tool, idempotency_key: id, wait_seconds: wait }] of items.entries()) {
          const isFirst = requests.length === 1;
          const isOver = wait > 0 && !(isFirst && tool === "slow");
          const end = isOver ? { status: "success", result: "done" } : { status: "running" };
          const busy = { error: { code: "agent_busy", message: "later", retryable: true } };
          const answer = isFirst && tool === "busy" ? busy : { tool_call_id: id, ...end };
          response.write(`${JSON.stringify({ index, ...answer })}\n`);
        }
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
};

describe("arguments that JSON does not have", () => {
  test("[API-6-P1] one of many calls is refused with its path before it is sent, and the others run", async () => {
    const { url, requests } = await startBatchPlane();
    const program = `
calls = [("any", {"a": 1}), ("any", {"a": [1, {"b": math.nan}]}), ("any", {"a": {1}}), ("any", {"c": -math.inf}), ("any", {})]
for index, outcome in sorted(plane.call_many(calls), key=lambda pair: pair[0]):
    print(index, outcome)`;
    const todo = "JSON has no NaN and no infinities; send None, a text or a finite number";
    expect(await run(url, program)).toEqual([
      "0 done",
      `1 bad_request: the arguments are not JSON: arguments.a[1].b is nan; ${todo}`,
      "2 bad_request: the arguments are not JSON: Object of type set is not JSON serializable",
      `3 bad_request: the arguments are not JSON: arguments.c is -inf; ${todo}`,
      "4 done",
    ]);
    expect(requests.map(({ items }) => items.map((item) => item.arguments))).toEqual([[{ a: 1 }, {}]]);
  });

  test("[API-6-P1] a single call raises bad_request before anything is sent", async () => {
    const { url, requests } = await startBatchPlane();
    const lines = await run(url, `failing(lambda: plane.call("any", {"a": math.inf}))`);
    expect(lines[0]).toMatch(/^\["bad_request", "the arguments are not JSON: arguments.a is inf; /);
    expect(requests).toEqual([]);
  });
});

describe("what a caller gives", () => {
  test("[API-6-P1] an empty key, or one that is no text, is bad_request before anything is sent", async () => {
    const { url, requests } = await startBatchPlane();
    const program = `
failing(lambda: plane.call("any", key=""))
failing(lambda: plane.start("any", key=""))
failing(lambda: plane.call("any", key=5))`;
    const refused = (key: string) => [
      "bad_request",
      `the key must be a text that is not empty, not ${key}; without one, a key is made up`,
      null,
      null,
      false,
    ];
    expect(await said(url, program)).toEqual([refused("''"), refused("''"), refused("5")]);
    expect(requests).toEqual([]);
  });

  test("[API-6-P1] an item of call_many that is no pair fails alone, and says what an item looks like", async () => {
    const { url, requests } = await startBatchPlane();
    const program = `
calls = [("any",), ("any", {}, "k"), "ab", None, ("any", {}), ["any", {}]]
for index, outcome in sorted(plane.call_many(calls), key=lambda pair: pair[0]):
    print(index, outcome)`;
    const refused = (item: string) =>
      `bad_request: a call of call_many is a pair of a tool and its arguments, such as ("count_words", {"text": "a b"}), not ${item}`;
    expect(await run(url, program)).toEqual([
      `0 ${refused("('any',)")}`,
      `1 ${refused("('any', {}, 'k')")}`,
      `2 ${refused("'ab'")}`,
      `3 ${refused("None")}`,
      "4 done",
      "5 done",
    ]);
    expect(requests.flatMap(({ items }) => items)).toHaveLength(2);
  });
});

describe("many large calls", () => {
  const MIB = 1024 * 1024;
  const counted = `
from collections import Counter
def count(calls):
    print(json.dumps(Counter(str(outcome) for _, outcome in plane.call_many(calls))))
`;

  test("[API-6-P1] travel in requests of a bounded size, and all are made before one is waited for", async () => {
    const { url, requests } = await startBatchPlane();
    expect(await said(url, `${counted}count([("any", {"big": "x" * 500_000})] * 40)`)).toEqual([{ done: 40 }]);
    expect(Math.max(...requests.map(({ bytes }) => bytes))).toBeLessThan(MIB);
    const items = requests.flatMap((request) => request.items);
    expect(new Set(items.map((item) => item.idempotency_key)).size).toBe(40);
    const firstWaited = items.findIndex((item) => item.wait_seconds > 0);
    expect(new Set(items.slice(0, firstWaited).map((item) => item.idempotency_key)).size).toBeGreaterThanOrEqual(38);
  });

  test("[API-6-P1] one that is larger travels alone, and one that the plane refuses fails alone", async () => {
    const { url, requests } = await startBatchPlane();
    const program = `${counted}count([("any", {"big": "x" * size}) for size in (10, 3 << 20, 17 << 20, 10)])`;
    expect(await said(url, program)).toEqual([{ done: 3, "payload_too_large: too large": 1 }]);
    for (const { bytes, items } of requests) expect(bytes < MIB || items.length === 1).toBe(true);
  });

  test("[API-6-P1] one that the plane has no room for yet is asked for again together with the others", async () => {
    const { url, requests } = await startBatchPlane();
    const program = `${counted}count([("any", {}), ("busy", {}), ("slow", {})])`;
    expect(await said(url, program)).toEqual([{ done: 3 }]);
    expect(requests.map(({ items }) => items.map((item) => item.tool_name))).toEqual([
      ["any", "busy", "slow"],
      ["busy", "slow"],
    ]);
  });

  test("[API-6-P1] small ones travel 256 in a request", async () => {
    const { url, requests } = await startBatchPlane();
    expect(await said(url, `${counted}count([("any", {})] * 300)`)).toEqual([{ done: 300 }]);
    expect(requests.map(({ items }) => items.length)).toEqual([256, 44]);
  });
});
