// The headers of a delivery, in the way of Standard Webhooks, for which many languages have a library: an id that stays the same over
// all attempts, the time, and an HMAC over both and the body. A receiver that checks the time refuses a recorded request.

import { createHmac } from "node:crypto";

const PREFIX = "whsec_";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The key of a secret: after `whsec_` it is base64, any other secret is used as it is written. Empty when the text after `whsec_` is not
 * base64: Node would decode it to fewer bytes, at worst to none, and everyone can sign with an empty key.
 */
export const signingKey = (secret: string): Buffer => {
  if (!secret.startsWith(PREFIX)) return Buffer.from(secret, "utf8");
  const text = secret.slice(PREFIX.length);
  return Buffer.from(BASE64.test(text) ? text : "", "base64");
};

export interface SignedDelivery {
  readonly deliveryId: string;
  readonly event: string;
  readonly body: string;
  readonly secret: string;
  readonly nowMs: number;
}

export const signDelivery = ({ deliveryId, event, body, secret, nowMs }: SignedDelivery) => {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signature = createHmac("sha256", signingKey(secret))
    .update(`${deliveryId}.${timestamp}.${body}`)
    .digest("base64");
  return {
    "content-type": "application/json",
    "user-agent": "toolplane-webhook",
    "webhook-id": deliveryId,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
    "toolplane-event": event,
  };
};
