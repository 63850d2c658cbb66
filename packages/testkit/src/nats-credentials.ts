// A NATS server in operator mode and the credentials of one of its users, made from nothing: keys (nkeys are Ed25519 with
// a prefix and a checksum in base32) and the signed claims the server trusts.

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

type Kind = "operator" | "account" | "user";

/** The first byte of a public key, which shows as its first letter: O, A, U. */
const PREFIX: Readonly<Record<Kind, number>> = { operator: 14 << 3, account: 0, user: 20 << 3 };
const SEED_PREFIX = 18 << 3;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const UNLIMITED = -1;

const base32 = (bytes: Buffer): string => {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET[(value >> (bits - 5)) & 31] ?? "";
  }
  return bits > 0 ? text + (ALPHABET[(value << (5 - bits)) & 31] ?? "") : text;
};

/** CRC-16 (XMODEM). */
const checksum = (bytes: Buffer): number => {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc;
};

const spell = (...parts: readonly Buffer[]): string => {
  const body = Buffer.concat(parts);
  const crc = Buffer.alloc(2);
  crc.writeUInt16LE(checksum(body));
  return base32(Buffer.concat([body, crc]));
};

interface Key {
  readonly name: string;
  readonly seed: string;
  readonly secret: KeyObject;
}

const createKey = (kind: Kind): Key => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d = "", x = "" } = privateKey.export({ format: "jwk" });
  const prefix = PREFIX[kind];
  const seedHead = Buffer.of(SEED_PREFIX | (prefix >> 5), (prefix & 31) << 3);
  return {
    name: spell(Buffer.of(prefix), Buffer.from(x, "base64url")),
    seed: spell(seedHead, Buffer.from(d, "base64url")),
    secret: privateKey,
  };
};

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const claim = (kind: Kind, subject: Key, issuer: Key, nats: Readonly<Record<string, unknown>>): string => {
  const claims = { jti: subject.name, iat: 1, iss: issuer.name, name: kind, sub: subject.name };
  const body = `${base64url({ typ: "JWT", alg: "ed25519-nkey" })}.${base64url({ ...claims, nats: { ...nats, type: kind, version: 2 } })}`;
  return `${body}.${sign(null, Buffer.from(body), issuer.secret).toString("base64url")}`;
};

const ACCOUNT_LIMITS = {
  ...{ subs: UNLIMITED, data: UNLIMITED, payload: UNLIMITED, imports: UNLIMITED, exports: UNLIMITED, wildcards: true },
  ...{ conn: UNLIMITED, leaf: UNLIMITED, mem_storage: UNLIMITED, disk_storage: UNLIMITED },
  ...{ streams: UNLIMITED, consumer: UNLIMITED },
};

export interface NatsCredentials {
  /** For the server's configuration. */
  readonly config: string;
  /** The text of a credentials file. */
  readonly credentials: string;
}

export const createNatsCredentials = (): NatsCredentials => {
  const operator = createKey("operator");
  const [system, account] = [createKey("account"), createKey("account")];
  const user = createKey("user");
  const jwtOf = (key: Key): string => claim("account", key, operator, { limits: ACCOUNT_LIMITS });
  const operatorJwt = claim("operator", operator, operator, { system_account: system.name });
  const userJwt = claim("user", user, account, { subs: UNLIMITED, data: UNLIMITED, payload: UNLIMITED });
  // The system account's limits may not name JetStream.
  const systemJwt = claim("account", system, operator, {
    limits: { ...ACCOUNT_LIMITS, mem_storage: 0, disk_storage: 0, streams: 0, consumer: 0 },
  });
  return {
    config: [
      `operator: ${operatorJwt}`,
      `system_account: ${system.name}`,
      "resolver: MEMORY",
      `resolver_preload: { ${system.name}: ${systemJwt}, ${account.name}: ${jwtOf(account)} }`,
    ].join("\n"),
    credentials: [
      "-----BEGIN NATS USER JWT-----",
      userJwt,
      "------END NATS USER JWT------",
      "-----BEGIN USER NKEY SEED-----",
      user.seed,
      "------END USER NKEY SEED------",
      "",
    ].join("\n"),
  };
};
