// What the pool and its threads say to each other.

import type { ToolplaneError } from "@toolplane/protocol";

export interface ThreadQuestion {
  /** Where the module with the work is. */
  readonly module: string;
  readonly input: unknown;
}

export type ThreadAnswer =
  | { readonly output: unknown }
  | { readonly error: Pick<ToolplaneError, "code" | "message" | "detail"> };

/** A thread's first word is `ready`; every other one is the answer to the task it was given. */
export type ThreadMessage = "ready" | ThreadAnswer;
