// JSON that cannot be kept (too deep, a name twice, a number out of range, too much of it) concerns the call or the item that holds it,
// and no other.

import { HEADERS } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const BATCH = "/projects/demo/calls/batch";
const EXCHANGE = "/projects/demo/tool-services/test/exchange";

const deep = (levels: number): string => `${"[".repeat(levels)}1${"]".repeat(levels)}`;
const keys = (count: number, prefix = "k"): string =>
  `{${Array.from({ length: count }, (_, i) => `"${prefix}${i}":${i}`).join(",")}}`;
const values = (count: number): string => `[${"1,".repeat(count - 1)}1]`;

/** A JSON text that cannot be kept, and the codes with which arguments and results with it end. */
const UNREADABLE: readonly (readonly [name: string, text: string, asArgument: string, asResult: string])[] = [
  ["too deep", deep(70), "bad_request", "result_not_serializable"],
  ["a name twice", '{"a":1,"a":2}', "bad_request", "result_not_serializable"],
  ["out of range", "1e400", "bad_request", "result_not_serializable"],
  ["an integer that a double does not keep", "[9007199254740993]", "bad_request", "result_not_serializable"],
  ["too many names", keys(10_500), "payload_too_large", "result_too_large"],
  ["too many values", values(260_000), "payload_too_large", "result_too_large"],
];

const callText = (x: string): string => `{"tool_name":"safe","arguments":{"x":${x}}}`;

const sendBatch = async (http: HttpStack, items: readonly string[]) => {
  const answer = await http.send("POST", BATCH, `[${items.join(",")}]`);
  expect(answer.status).toBe(200);
  return answer.body.items.map(
    ({ status, error }: { status?: string; error?: { code: string } }) => error?.code ?? status,
  );
};

interface Held {
  readonly id: string;
  readonly lease: string;
}

const hold = async (http: HttpStack, count: number): Promise<readonly Held[]> => {
  for (let i = 0; i < count; i += 1) await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  const { body } = await http.send("POST", EXCHANGE, { max: count });
  return body.commands.map((command: { headers: Record<string, string>; lease: { id: string } }) => ({
    id: command.headers[HEADERS.toolCallId] ?? "",
    lease: command.lease.id,
  }));
};

test.each(UNREADABLE)("[API-batch-stream] a call of a batch is refused alone: %s", async (_name, text, code) => {
  await using http = await startHttpStack();
  const alone = await http.send("POST", "/projects/demo/calls", callText(text));
  expect(alone.body.error.code).toBe(code);
  expect(await sendBatch(http, [callText("1"), callText(text), callText('"b"')])).toEqual(["queued", code, "queued"]);
});

test("[API-batch-stream] calls that are each small enough are not refused together", async () => {
  await using http = await startHttpStack();
  const named = Array.from({ length: 20 }, (_, n) => callText(keys(600, `n${n}_`)));
  expect(await sendBatch(http, named)).toEqual(named.map(() => "queued"));
  const many = Array.from({ length: 6 }, () => callText(values(60_000)));
  expect(await sendBatch(http, many)).toEqual(many.map(() => "queued"));
  const large = callText(`"${"x".repeat(2 * 1024 * 1024)}"`);
  expect(await sendBatch(http, [large, callText("1")])).toEqual(["payload_too_large", "queued"]);
});

test("[API-batch-stream] a text that is no JSON is refused as a whole", async () => {
  await using http = await startHttpStack();
  for (const text of [
    `[${callText("1")},{"tool_name":}]`,
    `[${callText("1")},]`,
    `[${callText("1")}`,
    `[${callText(deep(70))}]]`,
  ])
    expect((await http.send("POST", BATCH, text)).body.error).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("the body is not valid JSON"),
    });
});

test.each(UNREADABLE)(
  "[UTP-8.7-C7] a call whose result cannot be kept settles as failed: %s",
  async (_name, text, _, code) => {
    await using http = await startHttpStack();
    const [one, other, third] = (await hold(http, 3)) as [Held, Held, Held];
    const settled = await http.send(
      "POST",
      `/projects/demo/calls/${one.id}/result`,
      `{"lease":"${one.lease}","status":"success","result":{"x":${text}}}`,
    );
    expect(settled).toMatchObject({ status: 200, body: { status: "failed" } });
    const said = `{"tool_call_id":"${other.id}","lease":"${other.lease}","status":"success","result":{"x":${text}}}`;
    const beside = `{"tool_call_id":"${third.id}","lease":"${third.lease}","status":"success","result":"fine"}`;
    const exchanged = await http.send("POST", EXCHANGE, `{"results":[${said},${beside}]}`);
    expect(exchanged).toMatchObject({ status: 200, body: { results: [{ status: "failed" }, { status: "success" }] } });
    for (const { id } of [one, other]) {
      const { body } = await http.send("GET", `/projects/demo/calls/${id}`);
      expect(body).toMatchObject({ status: "failed", error: { code } });
    }
    // The same rule for a service in the plane's own process.
    const [own] = (await hold(http, 1)) as [Held];
    if (!text.startsWith("{") || code !== "result_too_large") return;
    await http.t.engine.calls.settle({
      projectId: "demo",
      toolCallId: own.id,
      actorId: "tool.test",
      leaseId: own.lease,
      outcome: { given: { status: "success", result: JSON.parse(text) as unknown } },
    });
    expect((await http.send("GET", `/projects/demo/calls/${own.id}`)).body).toMatchObject({
      status: "failed",
      error: { code },
    });
  },
);

test("[API-exchange-2] an item whose lease or call cannot be read is refused alone", async () => {
  await using http = await startHttpStack();
  const [one, other] = (await hold(http, 2)) as [Held, Held];
  const twice = `{"tool_call_id":"${one.id}","lease":"${one.lease}","lease":"x","status":"success"}`;
  const beat = `{"tool_call_id":"${other.id}","lease":"${other.lease}"}`;
  const body = `{"results":[${twice}],"heartbeats":[${beat},{"tool_call_id":"a","lease":${deep(70)}}]}`;
  const answer = await http.send("POST", EXCHANGE, body);
  expect(answer).toMatchObject({
    status: 200,
    body: {
      results: [{ error: { code: "bad_request" } }],
      heartbeats: [{ cancel: false }, { error: { code: "bad_request" } }],
    },
  });
});

test("two integers that a double does not tell apart are not the same call", async () => {
  await using http = await startHttpStack();
  const ask = (id: string) =>
    http.send(
      "POST",
      "/projects/demo/calls",
      `{"tool_name":"safe","idempotency_key":"k","arguments":{"order":{"id":${id}}}}`,
    );
  expect((await ask("9007199254740992")).status).toBe(202);
  const { status, body } = await ask("9007199254740993");
  expect({ status, error: body.error }).toMatchObject({
    status: 400,
    error: { code: "bad_request", message: expect.stringContaining("$.arguments.order.id") },
  });
  expect((await ask("9007199254740992.0")).status).toBe(202);
});

test.each([
  ["a batch", BATCH, `[${"1e999,".repeat(20_000)}1]`, 400, "bad_request"],
  ["a long batch", BATCH, `[${"1e999,".repeat(400_000)}1]`, 413, "payload_too_large"],
  ["an exchange", EXCHANGE, keys(120_000), 413, "payload_too_large"],
] as const)(
  "[API-batch-stream] %s with far too many parts is refused as a whole",
  async (_name, path, text, code, word) => {
    await using http = await startHttpStack();
    const { status, body } = await http.send("POST", path, text);
    expect([status, body.error.code, body.items]).toEqual([code, word, undefined]);
  },
);
