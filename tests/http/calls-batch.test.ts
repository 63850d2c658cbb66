// A batch whose answers come as its calls settle, one line for each.

import type { LeasedCall } from "@toolplane/engine";
import { eventually, resultFor } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

type Line = Readonly<Record<string, unknown>> & {
  readonly index: number;
  readonly error?: { readonly code: string };
};

const BATCH = "/projects/demo/calls/batch";

const openBatch = async (http: HttpStack, items: unknown, token = http.admin) => {
  const response = await http.raw(BATCH, {
    method: "POST",
    headers: {
      accept: "application/x-ndjson",
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(items),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const lines: Line[] = [];
  let rest = "";
  let over = false;
  /** Reads until there are so many lines, or the answer ends. */
  const until = async (count: number): Promise<readonly Line[]> => {
    while (lines.length < count && !over) {
      const piece = await reader?.read();
      over = piece?.done !== false;
      const texts = (rest + (piece?.value ?? "")).split("\n");
      rest = texts.pop() ?? "";
      lines.push(...texts.filter((text) => text !== "").map((text) => JSON.parse(text) as Line));
    }
    return lines;
  };
  return { response, until, cancel: () => reader?.cancel() };
};

const claimAll = async (http: HttpStack, count: number): Promise<ReadonlyMap<number, LeasedCall>> => {
  const leased: LeasedCall[] = [];
  while (leased.length < count)
    leased.push(
      ...(await http.t.engine.calls.claim({ projectId: "demo", target: "test", holder: "holder-1", max: 256 }, 5_000)),
    );
  const placeOf = (call: LeasedCall): number =>
    (JSON.parse(call.cardBody) as { content: { arguments: { i: number } } }).content.arguments.i;
  return new Map(leased.map((call) => [placeOf(call), call]));
};

const items = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ tool_name: "safe", arguments: { i }, wait_seconds: 60 }));

test("[API-batch-stream] each item is answered when it settles: the first that is asked for may come last", async () => {
  await using http = await startHttpStack();
  const batch = await openBatch(http, [...items(3), { tool_name: "nothing" }, { tool_name: "safe", wait: 1 }]);
  expect(batch.response.headers.get("content-type")).toBe("application/x-ndjson");
  expect((await batch.until(2)).map(({ index, error }) => [index, error?.code]).toSorted()).toEqual([
    [3, "not_found"],
    [4, "bad_request"],
  ]);
  const calls = await claimAll(http, 3);
  for (const [place, count] of [
    [2, 3],
    [1, 4],
    [0, 5],
  ] as const) {
    const call = calls.get(place) ?? expect.unreachable();
    await http.t.engine.calls.settle(resultFor(call, { result: { place } }));
    expect((await batch.until(count)).at(-1)).toMatchObject({
      index: place,
      status: "success",
      result: { place },
      tool_call_id: call.facts.toolCallId,
    });
  }
  expect(await batch.until(6)).toHaveLength(5);
});

test("[API-batch-stream] an item whose wait is over is answered as it stands", async () => {
  await using http = await startHttpStack();
  const batch = await openBatch(http, [{ tool_name: "safe", wait_seconds: 0.01 }, { tool_name: "safe" }]);
  expect((await batch.until(3)).map(({ status }) => status)).toEqual(["queued", "queued"]);
});

test("[API-batch-stream] a batch is bounded in items and in bytes", async () => {
  await using http = await startHttpStack();
  const many = await http.send("POST", BATCH, items(513));
  expect([many.status, many.body.error.code]).toEqual([400, "bad_request"]);
  const large = await http.send("POST", BATCH, [{ tool_name: "safe", arguments: { text: "x".repeat(17_000_000) } }]);
  expect([large.status, large.body.error.code]).toEqual([413, "payload_too_large"]);
});

test("[API-batch-stream] when the token ends, what is left is refused and no result is shown", async () => {
  await using http = await startHttpStack();
  const { engine } = http.t;
  const { secret, token } = await engine.tokens.create({ role: "operator", projectId: "demo" });
  const batch = await openBatch(http, items(2), secret);
  const calls = await claimAll(http, 2);
  await engine.calls.settle(resultFor(calls.get(0) ?? expect.unreachable(), { result: { place: 0 } }));
  expect(await batch.until(1)).toMatchObject([{ index: 0, status: "success" }]);
  await engine.tokens.revoke(token.tokenId);
  expect(await batch.until(3)).toMatchObject([{ index: 0 }, { index: 1, error: { code: "unauthorized" } }]);
});

test("[API-batch-stream] a reader that goes away ends the wait, not the calls", async () => {
  await using http = await startHttpStack();
  const batch = await openBatch(http, items(2));
  const calls = await claimAll(http, 2);
  await batch.cancel();
  for (const call of calls.values()) await http.t.engine.calls.settle(resultFor(call));
  const list = await http.send("GET", "/projects/demo/calls");
  expect(list.body.items.map(({ status }) => status)).toEqual(["success", "success"]);
});

test("[SEC-memory-bodies] the bytes of a batch count until its last line is written", async () => {
  await using http = await startHttpStack({}, { bodies: { perToken: 1_000_000, inAll: 4_000_000 } });
  const large = [{ tool_name: "safe", arguments: { i: 0, text: "x".repeat(600_000) }, wait_seconds: 60 }];
  const first = await openBatch(http, large);
  const refused = await openBatch(http, large);
  expect([first.response.status, refused.response.status]).toEqual([200, 429]);
  const [call] = (await claimAll(http, 1)).values();
  await http.t.engine.calls.settle(resultFor(call ?? expect.unreachable()));
  expect(await first.until(2)).toHaveLength(1);
  const again = await eventually(async () => {
    const next = await openBatch(http, large);
    return next.response.status === 200 ? next : undefined;
  });
  await again?.cancel();
});

test("[API-batch-key] the header that gives one call its key is refused for a batch, and no call is made", async () => {
  await using http = await startHttpStack();
  const response = await http.raw(BATCH, {
    method: "POST",
    headers: {
      authorization: `Bearer ${http.admin}`,
      "content-type": "application/json",
      "idempotency-key": "k",
    },
    body: JSON.stringify(items(2)),
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: "bad_request", message: expect.stringContaining("its own idempotency_key") },
  });
  expect(await http.t.engine.calls.list("demo", { limit: 10 })).toEqual([]);
});
