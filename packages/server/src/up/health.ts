// /health: whether this server can do its work now. It is public, so it tells nothing secret, and asking it often costs the
// database nothing.

import { type Clock, inTime, systemClock } from "@toolplane/engine";
import { PROTOCOL_VERSION } from "@toolplane/protocol";
import type { UpRole } from "../config/settings.ts";

export type Phase = "starting" | "ready" | "draining";

export interface HealthOptions {
  readonly version: string;
  readonly store: "embedded" | "postgres";
  /** NATS, when it carries the messages. Without it calls are only late, so it is reported and does not change the status. */
  readonly bus?: { readonly connected: () => boolean } | undefined;
  readonly roles: readonly UpRole[];
  readonly phase: () => Phase;
  /** Rejects when the store does not answer. */
  readonly askStore: () => Promise<unknown>;
  /** True when it answers but stores nothing, for example with a full disk. */
  readonly storeRefuses?: (() => boolean) | undefined;
  /** The longest pause of this process's event loop in the last minute, in milliseconds. */
  readonly longestPauseMs?: (() => number) | undefined;
  readonly clock?: Clock | undefined;
}

export interface Health {
  readonly ok: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A store that takes longer to tell the time cannot settle calls either. */
const ANSWER_WITHIN_MS = 2_000;
/** An answer is good for this long. */
const REMEMBER_MS = 250;

export const createHealth = (options: HealthOptions): (() => Promise<Health>) => {
  const { clock = systemClock, phase, askStore } = options;
  let asked: Promise<boolean> | undefined;
  let askedAt = 0;

  const storeAnswers = async (): Promise<boolean> => {
    const answered = askStore().then(
      () => true,
      () => false,
    );
    return (await inTime(clock, ANSWER_WITHIN_MS, answered)) === true;
  };

  const ask = (): Promise<boolean> => {
    if (asked === undefined || clock.now() - askedAt > REMEMBER_MS) {
      askedAt = clock.now();
      asked = storeAnswers();
    }
    return asked;
  };

  return async () => {
    const now = phase();
    const answers = now === "ready" && (await ask());
    const ok = answers && options.storeRefuses?.() !== true;
    const status = now !== "ready" ? now : ok ? "ok" : answers ? "store_refuses" : "store_away";
    const { version, store, roles } = options;
    const bus =
      options.bus === undefined ? { bus: "postgres" } : { bus: "nats", bus_connected: options.bus.connected() };
    const pause = options.longestPauseMs && { loop_pause_ms: options.longestPauseMs() };
    return { ok, body: { status, version, protocol: PROTOCOL_VERSION, store, ...bus, roles, ...pause } };
  };
};
