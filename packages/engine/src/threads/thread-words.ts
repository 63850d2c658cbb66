// The messages between the pool and its threads.

import type { ToolplaneError } from "@toolplane/protocol";

export interface ThreadQuestion {
  /** Where the module with the work is. */
  readonly module: string;
  readonly input: unknown;
}

export type ThreadAnswer =
  | { readonly output: unknown }
  | { readonly error: Pick<ToolplaneError, "code" | "message" | "detail"> };

/** A thread's first message is `ready`; every other one answers its task. */
export type ThreadMessage = "ready" | ThreadAnswer;
