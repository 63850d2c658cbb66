// A process that dies at any moment of a delivery, with a bus beside the database: another one delivers what is left, under the same id.

import { type Engine, systemClock } from "@toolplane/engine";
import { type FaultPoint, WEBHOOK_FAULT_POINTS } from "@toolplane/engine/internal";
import { createSendDelivery, createWebhookKey } from "@toolplane/server/internal";
import { createMemoryCarrier, meddle, resultFor, startTestEngine, type TestEngine } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

class Crash extends Error {}

const key = createWebhookKey("the key of these tests");
const NOBODY_STOPS = new AbortController().signal;
let t: TestEngine;
beforeAll(async () => {
  t = await startTestEngine({ carrier: createMemoryCarrier({ republishSeconds: 600 }) });
});
afterAll(() => t[Symbol.asyncDispose]());

/** What a process does for webhooks, once: reads the events, claims what is due, sends it, writes down what became of it. */
const passOnce = async ({ webhooks }: Engine, got: string[]): Promise<number> => {
  for (const reader of await webhooks.readers())
    for (let next: typeof reader | undefined = reader; next !== undefined; ) next = await webhooks.read(next);
  const claimed = await webhooks.claim({
    keyId: key.keyId,
    max: 10,
    leaseSeconds: 60,
    underWay: [],
    perReceiver: 4,
    perProject: 16,
  });
  const receive: typeof fetch = async (_url, init) => {
    got.push(new Headers(init?.headers).get("webhook-id") ?? "");
    return new Response(null, { status: 204 });
  };
  const send = createSendDelivery(receive as never, key, systemClock.now);
  for (const delivery of claimed) await webhooks.settle(delivery, await send(delivery, NOBODY_STOPS));
  return claimed.length;
};

const runCall = async (): Promise<void> => {
  await t.engine.calls.dispatch({ projectId: "demo", toolName: "safe", arguments: {} });
  const [call] = await t.engine.calls.claim({ projectId: "demo", target: "test", holder: "h", max: 1 });
  await t.engine.calls.settle(resultFor(call ?? expect.unreachable("no call")));
};

/** How often the receiver sees the delivery when the process dies there: again only if its answer was not written down. */
const SEEN: Readonly<Record<(typeof WEBHOOK_FAULT_POINTS)[number], number>> = {
  "webhook:before-commit": 1,
  "webhook:after-commit": 1,
  "webhook:before-settle": 2,
  "webhook:after-settle": 1,
};

test.each(WEBHOOK_FAULT_POINTS)("[API-webhook-1] a process that dies at %s loses no delivery", async (point) => {
  const crash = (at: FaultPoint): void => {
    if (at === point) throw new Crash(at);
  };
  const dying = await t.another({ carrier: createMemoryCarrier(), faults: { at: crash } });
  const webhookId = point.replace(":", "-");
  await t.engine.webhooks.create({
    ...{ projectId: "demo", webhookId, url: "https://hooks.example.com/", events: ["call.settled"] },
    ...{ createdBy: "test", ...key.seal("a-secret-of-this-webhook", `demo/${webhookId}`) },
  });
  await runCall();
  const got: string[] = [];
  await expect(passOnce(dying, got)).rejects.toThrow(Crash);
  // Its lease is over.
  await meddle(t, "deliveriesDue");
  while ((await passOnce(t.engine, got)) > 0);
  const rows = await t.engine.webhooks.deliveries("demo", webhookId, { limit: 10 });
  expect(rows.map(({ status }) => status)).toEqual(["delivered"]);
  expect(got).toEqual(Array(SEEN[point]).fill(rows[0]?.deliveryId));
  await t.engine.webhooks.remove("demo", webhookId);
});
