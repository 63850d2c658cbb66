import { expect, test } from "vitest";
import { signDelivery, signingKey } from "./sign-delivery.ts";
import { createWebhookDoor } from "./webhook-door.ts";
import { createWebhookKey } from "./webhook-key.ts";

test("[API-webhook-2] a delivery is signed as Standard Webhooks has it", () => {
  // The example of the standard's own libraries.
  const headers = signDelivery({
    ...{ deliveryId: "msg_p5jXN8AQM9LWM0D4loKWxJek", event: "call.settled", body: '{"test": 2432232314}' },
    ...{ secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", nowMs: 1_614_265_330_999 },
  });
  expect(headers).toMatchObject({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test.each([
  ["whsec_!!!!!!!!!!!!!!!!!!!!!!!!", 0],
  ["whsec_", 0],
  ["whsec_YWFhYWFhYWFh", 9],
  ["whsec_YWFhYWFhYWFhYWFhYWFhYQ", 0],
  ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 24],
  ["sixteen characters", 18],
])("[API-webhook-2] the key of %s has %i bytes", (secret, bytes) => {
  expect(signingKey(secret)).toHaveLength(bytes);
});

test("[API-webhook-2] a secret whose key is shorter than 16 bytes is refused, however long it is written", () => {
  const door = createWebhookDoor({
    ...{ hosts: ["hooks.example.com"], allow: [], newId: () => "w1", key: () => createWebhookKey("one") },
  });
  const asked = { url: "https://hooks.example.com/", events: ["*"] };
  for (const secret of ["whsec_!!!!!!!!!!!!!!!!!!!!!!!!", "whsec_YWFhYWFhYWFh", "short"])
    expect(() => door.accept("demo", { ...asked, secret })).toThrow(/16 or more bytes/);
  expect(door.accept("demo", { ...asked, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }).webhookId).toBe("w1");
});

test("[API-webhook-2] a sealed secret opens with its key and its name only", () => {
  const key = createWebhookKey("one");
  const { sealedSecret, keyId } = key.seal("the secret", "demo/w1");
  expect(keyId).toBe(key.keyId);
  expect(key.open(sealedSecret, "demo/w1")).toBe("the secret");
  expect(key.open(sealedSecret, "demo/w2")).toBeUndefined();
  expect(createWebhookKey("two").open(sealedSecret, "demo/w1")).toBeUndefined();
  expect(key.open("", "demo/w1")).toBeUndefined();
  expect(Buffer.from(sealedSecret, "base64").toString("latin1")).not.toContain("the secret");
});
