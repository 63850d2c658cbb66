// The id port. Ids are UUIDv7 in 32 hex digits: they sort by time, so primary keys grow at their right edge, newest
// first is a backward index scan, and "older than" is a key range (retention).

import { hash, randomBytes } from "node:crypto";

export interface Ids {
  /** 32 lower-case hex digits, ascending in time within this process. */
  uuid(): string;
  /** A fresh trace: a UUID as well, so that traces sort by time. */
  traceId(): string;
  /** 16 lower-case hex digits, never all zero. */
  spanId(): string;
}

/** The smallest UUIDv7 of a millisecond: everything made before it compares lower. */
export const oldestUuidOf = (unixMs: number): string =>
  `${unixMs.toString(16).padStart(12, "0")}70008${"0".repeat(15)}`;

// In one step: a call is hashed seven times, and a hash object costs as much again as the hash.
export const sha256 = (text: string): string => hash("sha256", text, "hex");

const UUID = /^[0-9a-f]{32}$/;
/** A UUIDv7 says its time in its first half. */
const TIME_LENGTH = 16;

/** A UUIDv7 for a part of something: as old as the whole when that is a UUIDv7, and the same every time. */
export const derivedUuid = (whole: string, part: string, sha256: (text: string) => string): string => {
  const hash = sha256(`${whole}/${part}`);
  const time = UUID.test(whole) ? whole.slice(0, TIME_LENGTH) : `${hash.slice(0, 12)}7${hash.slice(13, 16)}`;
  return `${time}8${hash.slice(-15)}`;
};

// Random bytes are drawn in blocks: one system call per 512 ids instead of one per id.
const BLOCK = 8192;

export const createIds = (now: () => number = Date.now): Ids => {
  let block = Buffer.alloc(0);
  let offset = 0;
  let lastMs = 0;
  let sequence = 0;

  const hex = (bytes: number): string => {
    if (offset + bytes > block.length) {
      block = randomBytes(BLOCK);
      offset = 0;
    }
    offset += bytes;
    return block.toString("hex", offset - bytes, offset);
  };

  const uuid = (): string => {
    // A clock that stands still or goes back keeps the last millisecond and counts up (12 bits, then it borrows one ms).
    const ms = now();
    if (ms > lastMs) {
      lastMs = ms;
      sequence = 0;
    } else if (++sequence > 0xfff) {
      lastMs++;
      sequence = 0;
    }
    const time = lastMs.toString(16).padStart(12, "0");
    const random = hex(8);
    const variant = ((Number.parseInt(random[0] ?? "0", 16) & 0x3) | 0x8).toString(16);
    return `${time}7${sequence.toString(16).padStart(3, "0")}${variant}${random.slice(1)}`;
  };

  return {
    uuid,
    traceId: uuid,
    spanId() {
      const id = hex(8);
      return id === "0000000000000000" ? "0000000000000001" : id;
    },
  };
};
