// What to do with a command whose call could not be leased. The command is only a pointer: the call itself is stored in the
// plane, which publishes a command again when a service is needed.
//
// | the gateway says                                   | fate   | why                                                      |
// |----------------------------------------------------|--------|----------------------------------------------------------|
// | queued, but not now (not due, its session is busy, | later  | growing to a second: slots and sessions become free soon |
// | a limit holds it)                                  |        |                                                          |
// | queued, and when its limit lets it pass            | later  | then                                                     |
// | queued, pinned to a definition we do not run       | later  | growing; a service that runs it can take it              |
// | held, over, unknown                                | forget | another service has it; if that fails, the plane publishes |
// | away, busy; this service may not                   | later  | growing, and the claim fails: all commands would meet it  |
// | too large for NATS                                 | later  | growing; a service over HTTP can take it                  |
// | anything else                                      | never  | the command itself is wrong                               |

import { type Backoff, backoff, type ToolplaneError } from "@toolplane/protocol";
import { mayPass } from "../gateway/patience.ts";
import type { Random } from "../ports/ids.ts";

export type CommandFate =
  | { readonly kind: "forget" }
  | { readonly kind: "later"; readonly delayMs: number; readonly trouble: boolean }
  | { readonly kind: "never"; readonly reason: string };

/** Slots and sessions become free, and due times pass, in moments or seconds. */
const NOT_NOW: Backoff = { first: 100, longest: 1_000 };
/** A plane that restarts is back in seconds; its calls should not wait for us much longer. */
const TROUBLE: Backoff = { first: 500, longest: 5_000 };
/** Others can take it; who cannot should not keep fetching it. */
const NOT_OURS: Backoff = { first: 100, longest: 30_000 };

/** As above, and quicker at first: during a rollout about half of the deliveries go to a service of the other version. */
const PINNED: Backoff = { first: 20, longest: 30_000 };

const OVER: ReadonlySet<string> = new Set(["lease_lost", "already_settled", "not_found", "canceled"]);
const NOT_ALLOWED: ReadonlySet<string> = new Set(["unauthorized", "auth_failed", "invalid_source_actor"]);

const isPinned = ({ detail }: ToolplaneError): boolean => detail?.reason === "pinned";
const isQueued = ({ code, detail }: ToolplaneError): boolean => code === "lease_lost" && detail?.status === "queued";

/** No delay is longer: a limit may be raised meanwhile. */
const LONGEST_TOLD_MS = 30_000;

/** When the plane says that a limit lets the call pass. */
const toldMs = ({ detail }: ToolplaneError): number | undefined => {
  const ms = detail?.retry_after_ms;
  return typeof ms === "number" && ms >= 0 ? Math.min(Math.max(Math.ceil(ms), 1), LONGEST_TOLD_MS) : undefined;
};

/** `attempt` is how often the command was delivered, this time included. */
export const planRefusal = (error: ToolplaneError, attempt: number, random: Random): CommandFate => {
  if (isQueued(error) && isPinned(error))
    return { kind: "later", delayMs: backoff(PINNED, attempt, random), trouble: false };
  if (isQueued(error))
    return { kind: "later", delayMs: toldMs(error) ?? backoff(NOT_NOW, attempt, random), trouble: false };
  if (OVER.has(error.code)) return { kind: "forget" };
  if (mayPass(error) || NOT_ALLOWED.has(error.code)) {
    return { kind: "later", delayMs: backoff(TROUBLE, attempt, random), trouble: true };
  }
  if (error.code === "payload_too_large") return planNotOurs(attempt, random);
  return { kind: "never", reason: `${error.code}: ${error.message}` };
};

/** A command that breaks a clause of the protocol: coming back would not mend it. */
export const planMalformed = (clause: string, { message }: ToolplaneError): CommandFate => ({
  kind: "never",
  reason: `${clause}: ${message}`,
});

/** A command that another service should take: it belongs to another project whose services have the same target. */
export const planNotOurs = (attempt: number, random: Random): CommandFate => ({
  kind: "later",
  delayMs: backoff(NOT_OURS, attempt, random),
  trouble: false,
});
