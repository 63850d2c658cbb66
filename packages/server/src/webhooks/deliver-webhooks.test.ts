import { once } from "node:events";
import { setImmediate as breathe } from "node:timers/promises";
import { type EventReader, systemClock } from "@toolplane/engine";
import { eventually } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { deliverWebhooks } from "./deliver-webhooks.ts";

type Options = Parameters<typeof deliverWebhooks>[0];

const log = { warn: () => {}, info: () => {}, error: () => {}, debug: () => {} };

/** Two projects: the events of `busy` never end, `calm` has a page when it is asked to. */
const startDelivery = () => {
  const did: string[] = [];
  const listeners: (() => void)[] = [];
  const webhooks = {
    readers: async () => [
      { projectId: "busy", position: "0-0" },
      { projectId: "calm", position: "0-0" },
    ],
    read: async (reader: EventReader) => {
      await breathe();
      did.push(`read ${reader.projectId}`);
      return reader.projectId === "busy" ? reader : undefined;
    },
    claim: async () => {
      did.push("claim");
      return [];
    },
    nextDueMs: async () => 0,
  };
  const listen = (_kind: string, heard: () => void) => {
    listeners.push(heard);
    return () => {};
  };
  const send = async () => ({ taken: true });
  const options = { engine: { webhooks, doorbell: { listen } }, keyId: "k", send, clock: systemClock, log };
  const delivery = deliverWebhooks(options as unknown as Options);
  return { did, ring: () => listeners[0]?.(), delivery };
};

test("[SEC-webhook-reads] a project whose events never end holds up neither the reading nor the sending for others", async () => {
  const { did, ring, delivery } = startDelivery();
  const timesOf = (what: string): number => did.filter((one) => one === what).length;
  await eventually(() => timesOf("read calm") > 0 && timesOf("claim") > 0);
  // It goes on with the busy one by itself, and looks at all of them when a bell rings.
  await eventually(() => timesOf("read busy") > 5);
  const before = timesOf("read calm");
  ring();
  await eventually(() => timesOf("read calm") > before);
  await delivery.stop();
  expect(did.slice(0, 5)).toEqual(["read busy", "read calm", "claim", "read busy", "claim"]);
});

interface Waiting {
  readonly hasReader: boolean;
  /** Of the delivery that is due next; 0 when all are due, undefined when none waits. */
  readonly dueMs: number | undefined;
  readonly claimable: number;
}

const untilAborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, "abort");
};

/** Deliveries wait, and so many of them can be claimed. Receivers are silent until the stop. */
const startWaiting = ({ hasReader, dueMs, claimable }: Waiting) => {
  const did: string[] = [];
  let left = claimable;
  const webhooks = {
    readers: async () => (hasReader ? [{ projectId: "p", position: "0-0" }] : []),
    read: async () => undefined,
    claim: async () => {
      did.push("claim");
      return left-- > 0 ? [{ projectId: "p", receiver: "silent.example", url: "https://silent.example/" }] : [];
    },
    nextDueMs: async () => dueMs,
  };
  const clock = {
    ...systemClock,
    sleep: async (ms: number, signal: AbortSignal) => {
      did.push(`sleep ${ms}`);
      await untilAborted(signal);
    },
  };
  const send = async (_delivery: unknown, signal: AbortSignal) => {
    await untilAborted(signal);
    return { taken: false, reason: "cut off" };
  };
  const options = { engine: { webhooks, doorbell: { listen: () => () => {} } }, keyId: "k", send, clock, log };
  const delivery = deliverWebhooks(options as unknown as Options);
  return { did, delivery };
};

test.each<[string, Waiting, readonly string[]]>([
  [
    "a retry is due before a silent receiver has answered",
    { hasReader: true, dueMs: 1_500, claimable: 1 },
    ["claim", "claim", "sleep 1500"],
  ],
  [
    "what is due waits for a silent receiver",
    { hasReader: true, dueMs: 0, claimable: 1 },
    ["claim", "claim", "sleep 5000"],
  ],
  ["what is due has the key of another process", { hasReader: true, dueMs: 0, claimable: 0 }, ["claim", "sleep 5000"]],
  [
    "a delivery waits, and no webhook waits for events",
    { hasReader: false, dueMs: 1_500, claimable: 0 },
    ["claim", "sleep 1500"],
  ],
  ["no webhook and no delivery waits", { hasReader: false, dueMs: undefined, claimable: 0 }, ["sleep 30000"]],
])("how long it sleeps when %s", async (_when, waiting, expected) => {
  const { did, delivery } = startWaiting(waiting);
  await eventually(() => did.some((one) => one.startsWith("sleep")));
  expect(did).toEqual(expected);
  await delivery.stop();
});
