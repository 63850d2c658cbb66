import { setImmediate as breathe } from "node:timers/promises";
import { type EventReader, systemClock } from "@toolplane/engine";
import { eventually } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { deliverWebhooks } from "./deliver-webhooks.ts";

type Options = Parameters<typeof deliverWebhooks>[0];

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
    nextDueMs: async () => undefined,
  };
  const listen = (_kind: string, heard: () => void) => {
    listeners.push(heard);
    return () => {};
  };
  const log = { warn: () => {}, info: () => {}, error: () => {}, debug: () => {} };
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
