// An attempt of a call and the process it runs in, as they see each other.

import type { JsonObject, JsonValue, ToolplaneError } from "@toolplane/protocol";
import type { Ask } from "./host-connection.ts";

export interface Attempt extends Ask {
  readonly place: JobPlace;
  /** Characters of its request. */
  readonly size: number;
  /** Nobody waits for it any more. */
  abandoned: boolean;
}

/** The process an attempt runs in. */
export interface JobPlace {
  readonly pid: number | undefined;
  readonly initState: JsonObject;
  /** It understands `deadline_ms`. */
  readonly takesDeadline: boolean;
  hear(payload: JsonValue): void;
  tooLong(): ToolplaneError;
  jobDone(running: Attempt, answered: boolean): void;
  /** The caller no longer waits: its deadline or a cancellation came first. */
  abandon(running: Attempt): void;
  /** The call is over here and must soon be over there. */
  giveUp(running: Attempt): void;
}
