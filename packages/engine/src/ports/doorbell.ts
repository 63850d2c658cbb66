// The doorbell: "something changed, look again". It has no content and may be lost (I13), so every listener also looks by itself
// from time to time. Rings are coalesced: at most one ring per kind is on its way at any time.

/**
 * queued: calls can be claimed; sessions: calls can be claimed, and some are of sessions; settled: calls have results;
 * messages: the bus has rows; events: calls have told something; inbox: agents have something to do; stopped: turns were ended
 * from outside; registry: definitions changed.
 */
export const DOORBELL_KINDS = [
  "queued",
  "sessions",
  "settled",
  "messages",
  "events",
  "inbox",
  "stopped",
  "registry",
] as const;
export type DoorbellKind = (typeof DOORBELL_KINDS)[number];

export type RingOrigin = "here" | "elsewhere";

/** `elsewhere`: only the other processes, because those of this one were told themselves. `here`: only this process. */
export type RingTo = "everywhere" | "elsewhere" | "here";

export interface Doorbell {
  /** Never throws, never waits for the network. Call it after the commit, once per flush. */
  ring(kind: DoorbellKind, to?: RingTo): void;
  /**
   * Returns the way to stop listening. Rings of this process arrive at once, as `here`; those of other processes on the
   * database (and one after every reconnect, when some may have been missed) as `elsewhere`.
   */
  listen(kind: DoorbellKind, heard: (from: RingOrigin) => void): () => void;
  close(): Promise<void>;
}
