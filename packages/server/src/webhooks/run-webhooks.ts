// The webhooks of this process: the key, the way out, the loop.

import { createIds, type Engine, type Log, systemClock } from "@toolplane/engine";
import type { Settings } from "../config/settings.ts";
import { deliverWebhooks, type WebhookDelivery } from "./deliver-webhooks.ts";
import { createSendDelivery, createWebhookEgress } from "./send-delivery.ts";
import { createWebhookDoor, type WebhookDoor } from "./webhook-door.ts";
import { readWebhookKey, type WebhookKey } from "./webhook-key.ts";

type WebhookSettings = Pick<Settings, "webhookHosts" | "webhookKey" | "egressAllow">;

/** The key is read, and its file made, when the first webhook comes. */
export const openWebhookDoor = (settings: WebhookSettings, dataDir: () => string): WebhookDoor => {
  const ids = createIds();
  let key: WebhookKey | undefined;
  return createWebhookDoor({
    hosts: settings.webhookHosts,
    allow: settings.egressAllow,
    key: () => {
      key ??= readWebhookKey(settings.webhookKey, dataDir());
      return key;
    },
    newId: ids.uuid,
  });
};

export const runWebhooks = (options: {
  readonly engine: Engine;
  readonly settings: WebhookSettings;
  readonly dataDir: string;
  readonly log: Log;
}): WebhookDelivery => {
  const { engine, settings, dataDir, log } = options;
  const key = readWebhookKey(settings.webhookKey, dataDir);
  const egress = createWebhookEgress(settings.webhookHosts, settings.egressAllow);
  const send = createSendDelivery(egress.fetch, key, systemClock.now);
  const delivery = deliverWebhooks({ engine, keyId: key.keyId, send, clock: systemClock, log });
  return {
    async stop() {
      await delivery.stop();
      await egress.close();
    },
  };
};
