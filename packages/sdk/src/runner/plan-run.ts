// Small decisions of a run. Pure.

import { DEFAULT_TIMEOUT_SECONDS, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import type { ToolProfile } from "./executor.ts";

export interface DeadlineInput {
  /** When the lease came. */
  readonly receivedAt: number;
  readonly timeoutSeconds: number | undefined;
  /** The plane's own deadline: it settles the call then, whatever this service does. */
  readonly runDeadline: number | undefined;
}

export const planDeadline = ({ receivedAt, timeoutSeconds, runDeadline }: DeadlineInput): number =>
  runDeadline ?? receivedAt + (timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1_000;

/**
 * A strict tool runs only calls that were made under the definition its code has. The plane sees to it for calls under a lease, by
 * the definitions that the service names, and it also knows which versions a person made of the same code. A command without a
 * lease is checked here.
 */
export const checkPin = (profile: ToolProfile, metadata: JsonObject): void => {
  if (profile.pin !== "strict" || profile.definitionHash === metadata.definition_hash) return;
  throw new ToolplaneError(
    "definition_changed",
    "the call was made under another definition than the one that is served",
    {
      detail: { pinned: metadata.definition_hash ?? null, served: profile.definitionHash ?? null },
    },
  );
};

/** What becomes of a call when its service cannot wait for it. */
export const planShutdown = (started: boolean, retry: ToolProfile["retry"]): "release" | "outcome_unknown" =>
  !started || retry === "safe" ? "release" : "outcome_unknown";
