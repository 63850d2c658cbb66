// One key at once through HTTP and MCP, while the bus delivers the command of the call twice: a real nats-server carries the commands,
// and every command that it gets is published once more, byte for byte, under an id of its own.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openBareNats } from "@toolplane/bus/nats";
import { HEADERS } from "@toolplane/protocol";
import { defineTool, silentLog } from "@toolplane/sdk";
import { createApp, listen, routes } from "@toolplane/server/internal";
import { until } from "@toolplane/testkit";
import { expect } from "vitest";
import { openWorld } from "../sdk-nats/world.ts";

const KEY = "toolplane/idempotency_key";
const TARGET = "one_key";
/** Without an id of its own NATS would drop the copy as a duplicate. */
const COPY = "-copy-";

export interface OneKeyReport {
  readonly rounds: number;
  /** Commands that the plane published, and their copies. */
  readonly commands: number;
  readonly copies: number;
  readonly runs: number;
  readonly resultCards: number;
}

export const runOneKey = async (rounds: number): Promise<OneKeyReport> => {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openWorld());
  const { engine, test } = world;
  const draining = new AbortController();
  const app = createApp({
    engine: () => engine,
    routes,
    log: silentLog,
    health: async () => ({ ok: true, body: {} }),
    hosts: [],
    draining: draining.signal,
  });
  const served = await listen({ app, host: "127.0.0.1", port: 0 });
  stack.defer(() => served.close(0));
  stack.defer(() => draining.abort());
  const { secret } = await engine.tokens.create({ role: "admin" });
  const headers = { authorization: `Bearer ${secret}` };
  const origin = `http://${served.address}`;

  const runs = new Map<string, number>();
  const copied = new Set<string>();
  const count = defineTool({
    name: "count",
    description: "Counts its runs, and ends when its command was delivered again",
    parameters: { type: "object", properties: { round: { type: "string" } }, required: ["round"] } as const,
    // Its service fetches commands; that of a tool that may run twice would wait at the gateway, and hear no command.
    retry: "never",
    run: async ({ round }, { call }) => {
      runs.set(round, (runs.get(round) ?? 0) + 1);
      await until("the command was delivered again", () => copied.has(call.toolCallId));
      return round;
    },
  });
  stack.use(await world.serve([count], { target: TARGET, concurrency: 8 }));

  const bare = await openBareNats({ url: world.nats.url, name: "copier" }, { log: silentLog });
  stack.defer(() => bare.close());
  let [commands, copies] = [0, 0];
  await bare.listen(`cg.v1r4.${test.projectId}.*.cmd.tool.${TARGET}.>`, ({ subject, headers: given, payload }) => {
    const messageId = given["Nats-Msg-Id"] ?? "";
    if (messageId.includes(COPY)) return;
    commands += 1;
    for (const copy of [1, 2]) {
      bare.publish(subject, payload, { headers: { ...given, "Nats-Msg-Id": `${messageId}${COPY}${copy}` } });
      copies += 1;
    }
    copied.add(given[HEADERS.toolCallId] ?? "");
  });

  const clients = await Promise.all(
    (["auto", "legacy"] as const).map(async (mode) => {
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
      const url = new URL(`${origin}/mcp/${test.projectId}`);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      stack.defer(() => client.close());
      return client;
    }),
  );
  const overHttp = async (key: string): Promise<unknown> => {
    const answer = await fetch(`${origin}/projects/${test.projectId}/calls`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({
        tool_name: "count",
        arguments: { round: key },
        idempotency_key: key,
        wait_seconds: 60,
      }),
    });
    return ((await answer.json()) as { tool_result_card_id?: unknown }).tool_result_card_id;
  };
  const overMcp = async (client: Client, key: string): Promise<unknown> =>
    (await client.callTool({ name: "count", arguments: { round: key }, _meta: { [KEY]: key } }))._meta?.[
      "toolplane/tool_result_card_id"
    ];

  const resultCards = new Set<unknown>();
  for (let round = 0; round < rounds; round++) {
    const key = `round-${round}`;
    const cards = await Promise.all([
      overHttp(key),
      ...clients.map((client) => overMcp(client, key)),
      overHttp(key),
      ...clients.map((client) => overMcp(client, key)),
    ]);
    expect(cards[0]).toEqual(expect.any(String));
    expect(new Set(cards).size).toBe(1);
    resultCards.add(cards[0]);
  }
  // Copies that came after their call had settled have been looked at too.
  await until("every command was taken", async () => (await world.waitingCommands(TARGET)) === 0);
  expect([...runs.values()]).toEqual(Array.from({ length: rounds }, () => 1));
  expect(copies).toBe(2 * commands);
  return {
    rounds,
    commands,
    copies,
    runs: [...runs.values()].reduce((sum, one) => sum + one, 0),
    resultCards: resultCards.size,
  };
};
