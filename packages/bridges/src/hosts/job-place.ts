// An attempt of a call and the process it runs in, as they see each other.

import type { JsonObject, JsonValue, ToolplaneError } from "@toolplane/protocol";
import type { Ask } from "./host-connection.ts";

export interface Attempt extends Ask {
  readonly place: JobPlace;
  /** Characters of its request. */
  readonly size: number;
  /** The caller has stopped waiting. */
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
  /** The caller has stopped waiting: its deadline or a cancellation came first. */
  abandon(running: Attempt): void;
  /** The call is over here and must end in the host soon. */
  giveUp(running: Attempt): void;
}
