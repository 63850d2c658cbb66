// The headers of a delivery, in the way of Standard Webhooks, for which many languages have a library: an id that stays the same over
// all attempts, the time, and an HMAC over both and the body. A receiver that checks the time refuses a recorded request.

import { createHmac } from "node:crypto";

const PREFIX = "whsec_";

/** `whsec_` and base64 is the key's bytes; any other secret is used as it is written. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), "base64") : Buffer.from(secret, "utf8");

export interface SignedDelivery {
  readonly deliveryId: string;
  readonly event: string;
  readonly body: string;
  readonly secret: string;
  readonly nowMs: number;
}

export const signDelivery = ({ deliveryId, event, body, secret, nowMs }: SignedDelivery) => {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signature = createHmac("sha256", keyOf(secret)).update(`${deliveryId}.${timestamp}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "user-agent": "toolplane-webhook",
    "webhook-id": deliveryId,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
    "toolplane-event": event,
  };
};
