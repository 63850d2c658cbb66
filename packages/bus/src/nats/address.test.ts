import { describe, expect, test } from "vitest";
import { parseNatsAddress } from "./address.ts";

describe("parseNatsAddress", () => {
  test.each<readonly [string, Partial<ReturnType<typeof parseNatsAddress>>]>([
    ["nats://127.0.0.1:4222", { servers: ["127.0.0.1:4222"], tls: false }],
    ["nats://nats.example", { servers: ["nats.example:4222"], tls: false }],
    ["nats://[::1]:5000/", { servers: ["[::1]:5000"], tls: false }],
    ["tls://a:1, tls://b:2", { servers: ["a:1", "b:2"], tls: true }],
    ["nats://u:p%40ss@a:1", { servers: ["a:1"], user: "u", password: "p@ss", tls: false }],
    ["nats://t0k%2Fen@a:1", { servers: ["a:1"], token: "t0k/en", tls: false }],
    ["nats://a:1,nats://u:p@b:2", { servers: ["a:1", "b:2"], user: "u", password: "p", tls: false }],
  ])("%s", (text, address) => {
    expect(parseNatsAddress(text)).toMatchObject(address);
  });

  test.each([
    "",
    "127.0.0.1:4222",
    "http://u:hush@a:1",
    "ws://u:hush@a:1",
    "nats://",
    "nats://u:hush@a:1/path",
    "nats://u:hush@a:1?x=y",
    "nats://a:1,",
    "nats://u:hush@a:1,tls://b:2",
    "nats://u:hush%@a:1",
    "nats://u:hush@a:99999",
    "nats://u:hush@a:1,nats://v:hush@b:2",
  ])("refuses %j without repeating it", (text) => {
    let error: unknown;
    try {
      parseNatsAddress(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ name: "UsageError" });
    expect(String(error)).not.toContain("hush");
  });
});
