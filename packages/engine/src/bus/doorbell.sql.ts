// The doorbell's statements, on a connection of its own. NOTIFY must not be in a transaction that writes: it would make every
// commit of the database wait for the one before.

import { DOORBELL_KINDS } from "../ports/doorbell.ts";

const PREFIX = "toolplane_";

export const channelOf = (kind: string): string => PREFIX + kind;
export const kindOf = (channel: string): string => channel.slice(PREFIX.length);

/** How processes learn of each other. */
export const GREETINGS = ["hello", "present"] as const;

/** Rings are lost in a crash anyway, so a ring does not wait for the disk. */
export const START_LISTENING = [
  "set synchronous_commit = off",
  ...[...DOORBELL_KINDS, "streams", ...GREETINGS].map((kind) => `listen ${channelOf(kind)}`),
].join("; ");

/** $1 channels. */
export const NOTIFY = {
  name: "doorbell_notify",
  text: "select pg_notify(channel, '') from unnest($1::text[]) as c (channel)",
};
