import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readWebhookKey } from "./webhook-key.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "toolplane-webhook-key-"));
});
afterEach(() => rmSync(data, { recursive: true }));

test("[API-webhook-2] a key file that a power cut left empty is no key, and is made again", () => {
  const path = join(data, "webhook-key");
  writeFileSync(path, "", { mode: 0o644 });
  const { keyId } = readWebhookKey(undefined, data);
  expect(readFileSync(path, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readWebhookKey(undefined, data).keyId).toBe(keyId);
});

test("[API-webhook-2] a key that a person put there is used as it is, whatever its length", () => {
  const path = join(data, "webhook-key");
  writeFileSync(path, "a key of our own\n");
  expect(readWebhookKey(undefined, data).keyId).toBe(readWebhookKey("a key of our own", data).keyId);
  expect(readFileSync(path, "utf8")).toBe("a key of our own\n");
});

test("[API-webhook-2] a data directory that cannot hold the key is named, with what to do", () => {
  expect(() => readWebhookKey(undefined, join(data, "nowhere"))).toThrow(/the key of webhooks cannot be read or made/);
});
