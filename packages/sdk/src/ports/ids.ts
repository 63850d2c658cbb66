// Where ids, randomness and hashes come from.

import { createHash, randomBytes } from "node:crypto";
import type { HashText, TraceIds } from "@toolplane/protocol";

export interface Ids extends TraceIds {
  /** The id of a new card: 32 hex digits of a UUIDv7, so that cards sort by time. */
  cardId(): string;
}

const hexUuid = (now: number): string => {
  const random = randomBytes(10).toString("hex");
  const variant = ((Number.parseInt(random.slice(0, 1), 16) & 0x3) | 0x8).toString(16);
  return `${now.toString(16).padStart(12, "0")}7${random.slice(1, 4)}${variant}${random.slice(5)}`;
};

export const createIds = (now: () => number): Ids => ({
  cardId: () => hexUuid(now()),
  traceId: () => hexUuid(now()),
  spanId: () => {
    const span = randomBytes(8).toString("hex");
    return /^0+$/.test(span) ? "0000000000000001" : span;
  },
});

/** A number in [0, 1); spreads the retries of many services that lost the same server. */
export type Random = () => number;

export const sha256: HashText = (text) => createHash("sha256").update(text).digest("hex");
