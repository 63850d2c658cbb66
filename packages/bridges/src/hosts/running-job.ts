// One attempt of a call while it is in a process: what it is told, and by whom.
// J1. It ends once; what comes after it was given up changes nothing.

import type { JsonValue, ToolplaneError } from "@toolplane/protocol";
import type { HostResponse } from "@toolplane/protocol/host";
import type { Ask } from "./host-connection.ts";
import type { Attempt, JobPlace } from "./job-place.ts";
import type { PoolTask } from "./pool-task.ts";

export type JobEnd =
  | { readonly kind: "answer"; readonly response: HostResponse }
  /** The host answered, and the answer cannot be used. */
  | { readonly kind: "fault"; readonly error: ToolplaneError }
  /** The process is gone. */
  | { readonly kind: "lost"; readonly written: boolean; readonly why: string };

/** Who gave the job out. */
export interface JobOwner {
  onPart(task: PoolTask, payload: JsonValue, bytes: number): void;
  onEnd(task: PoolTask, end: JobEnd): void;
}

export class RunningJob implements Attempt {
  readonly id: string;
  readonly line: string;
  readonly place: JobPlace;
  written = false;
  abandoned = false;
  readonly #task: PoolTask;
  readonly #owner: JobOwner;

  constructor(id: string, line: string, given: { task: PoolTask; owner: JobOwner; place: JobPlace }) {
    this.id = id;
    this.line = line;
    this.place = given.place;
    this.#task = given.task;
    this.#owner = given.owner;
  }

  onEvent(type: string, payload: JsonValue, bytes: number): void {
    if (type === "log") this.place.hear(payload);
    else if (type === "part" && !this.abandoned) this.#owner.onPart(this.#task, payload, bytes);
  }

  onAnswer(response: HostResponse): void {
    this.place.jobDone(this, true);
    this.#tell({ kind: "answer", response });
  }

  onFault(error: ToolplaneError): void {
    this.place.jobDone(this, true);
    this.#tell({ kind: "fault", error });
  }

  onTooLong(): void {
    if (this.abandoned) return;
    this.#tell({ kind: "fault", error: this.place.tooLong() });
    this.abandoned = true;
    this.place.giveUp(this);
  }

  onLost(why: string): void {
    this.#tell({ kind: "lost", written: this.written, why });
  }

  #tell(end: JobEnd): void {
    if (!this.abandoned) this.#owner.onEnd(this.#task, end);
  }
}

/** A question of the supervisor itself. */
export const createQuestion = (
  id: string,
  line: string,
  settle: (response: HostResponse | undefined, error: ToolplaneError | undefined) => void,
): Ask => ({
  id,
  line,
  written: false,
  onEvent: () => undefined,
  onAnswer: (response) => settle(response, undefined),
  onFault: (error) => settle(undefined, error),
  onTooLong: () => undefined,
});
