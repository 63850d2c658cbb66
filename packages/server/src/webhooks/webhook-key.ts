// The key that seals the secrets of webhooks. It is beside the database, never in it: a dump of the database cannot sign anything.
// TOOLPLANE_WEBHOOK_KEY gives it to processes on several machines; without it the data directory has a file of its own.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureSecret } from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";

export interface Sealed {
  readonly sealedSecret: string;
  readonly keyId: string;
}

export interface WebhookKey {
  readonly keyId: string;
  /** `name` is bound to it: a sealed secret that is moved to another webhook cannot be opened. */
  seal(secret: string, name: string): Sealed;
  /** Undefined when it was not sealed with this key under this name. */
  open(sealedSecret: string, name: string): string | undefined;
}

const FILE = "webhook-key";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_DIGITS = 16;

export const createWebhookKey = (secret: string): WebhookKey => {
  const key = createHash("sha256").update(`toolplane webhooks ${secret}`).digest();
  const keyId = createHash("sha256").update(key).digest("hex").slice(0, KEY_ID_DIGITS);
  return {
    keyId,
    seal(text, name) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(name));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return { sealedSecret: Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64"), keyId };
    },
    open(sealedSecret, name) {
      const bytes = Buffer.from(sealedSecret, "base64");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(name));
        decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8");
        return text + decipher.final("utf8");
      } catch {
        return undefined;
      }
    },
  };
};

const readKeyFile = (dataDir: string): string => {
  const path = join(dataDir, FILE);
  try {
    // One that a person put there may have any length, and what it sealed cannot be opened without it.
    const found = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
    return found === "" ? ensureSecret(path) : found;
  } catch (cause) {
    throw new ToolplaneError("storage_error", `the key of webhooks cannot be read or made: ${path}`, {
      detail: { todo: "make the data directory writable, or set TOOLPLANE_WEBHOOK_KEY" },
      cause,
    });
  }
};

export const readWebhookKey = (given: string | undefined, dataDir: string): WebhookKey =>
  createWebhookKey(given ?? readKeyFile(dataDir));
