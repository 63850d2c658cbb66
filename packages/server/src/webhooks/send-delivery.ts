// Sends one delivery through the egress guard. Only the status of the answer counts: 2xx is taken, 410 says that the receiver is gone
// for good, everything else is tried again. The body of the answer is not read, a redirect is not followed.

import type { Egress } from "@toolplane/egress";
import { createEgress } from "@toolplane/egress";
import type { AllowedOrigin } from "@toolplane/egress/policy";
import type { ClaimedDelivery, DeliveryOutcome } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import { signDelivery } from "./sign-delivery.ts";
import { sealName } from "./webhook-door.ts";
import type { WebhookKey } from "./webhook-key.ts";

export type SendDelivery = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<DeliveryOutcome>;

/** A receiver has this long; the lease of a delivery is longer. */
const TOTAL_MS = 15_000;
const GONE = 410;

export const createWebhookEgress = (hosts: readonly string[], allow: readonly AllowedOrigin[]): Egress =>
  createEgress({
    hosts,
    allow,
    redirects: 0,
    limits: { bodyBytes: 64 * 1024, headerBytes: 16 * 1024, connectMs: 5_000, idleMs: TOTAL_MS, totalMs: TOTAL_MS },
  });

const failed = (reason: string, status?: number, final = false): DeliveryOutcome => ({
  taken: false,
  status,
  reason,
  final,
});

/** What a policy refuses now it may allow after a restart with other settings, so it is tried again as well. */
const reasonOf = (error: unknown): string =>
  isToolplaneError(error) ? `${error.code}: ${error.message}` : "the request failed";

export const createSendDelivery =
  (fetch: Egress["fetch"], key: WebhookKey, now: () => number): SendDelivery =>
  async (delivery, signal) => {
    const { deliveryId, event, body, projectId, webhookId, url, sealedSecret } = delivery;
    const secret = key.open(sealedSecret, sealName(projectId, webhookId));
    if (secret === undefined)
      return failed("the secret of the webhook cannot be opened; register it again", undefined, true);
    try {
      const headers = signDelivery({ deliveryId, event, body, secret, nowMs: now() });
      const response = await fetch(url, { method: "POST", headers, body, signal });
      await response.body?.cancel();
      if (response.ok) return { taken: true, status: response.status };
      return failed(`the receiver answered ${response.status}`, response.status, response.status === GONE);
    } catch (error) {
      return failed(reasonOf(error));
    }
  };
