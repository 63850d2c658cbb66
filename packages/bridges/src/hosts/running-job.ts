// One attempt of a call while it runs in a process: the messages it gets, and their order.
// RJ1. It ends once; messages after it was given up change nothing.

import type { JsonValue, ToolplaneError } from "@toolplane/protocol";
import type { HostResponse } from "@toolplane/protocol/host";
import type { Ask } from "./host-connection.ts";
import type { Attempt, JobPlace } from "./job-place.ts";
import type { PoolTask } from "./pool-task.ts";

/** The owner that gave the job out. */
export interface JobOwner {
  onPart(task: PoolTask, payload: JsonValue, bytes: number): void;
  onAnswer(task: PoolTask, response: HostResponse): void;
  /** The host answered, and the answer cannot be used. */
  onFault(task: PoolTask, error: ToolplaneError): void;
  /** The process is gone. */
  onLost(task: PoolTask, written: boolean, why: string): void;
}

export class RunningJob implements Attempt {
  readonly id: string;
  readonly method: string;
  order = 0;
  line: string;
  readonly size: number;
  readonly place: JobPlace;
  readonly task: PoolTask;
  written = false;
  abandoned = false;
  readonly #owner: JobOwner;

  constructor(id: string, task: PoolTask, place: JobPlace, owner: JobOwner, line: string) {
    this.id = id;
    this.method = task.method;
    this.line = line;
    this.size = line.length;
    this.place = place;
    this.task = task;
    this.#owner = owner;
  }

  onEvent(type: string, payload: JsonValue, bytes: number): void {
    if (type === "log") this.place.hear(payload);
    else if (type === "part" && !this.abandoned) this.#owner.onPart(this.task, payload, bytes);
  }

  onAnswer(response: HostResponse): void {
    this.place.jobDone(this, true);
    if (!this.abandoned) this.#owner.onAnswer(this.task, response);
  }

  onFault(error: ToolplaneError): void {
    this.place.jobDone(this, true);
    if (!this.abandoned) this.#owner.onFault(this.task, error);
  }

  onTooLong(): void {
    if (this.abandoned) return;
    this.#owner.onFault(this.task, this.place.tooLong());
    this.abandoned = true;
    this.place.giveUp(this);
  }

  onLost(why: string): void {
    if (!this.abandoned) this.#owner.onLost(this.task, this.written, why);
  }
}

/** A question of the supervisor itself. */
export const createQuestion = (
  id: string,
  method: string,
  line: string,
  settle: (response: HostResponse | undefined, error: ToolplaneError | undefined) => void,
): Ask => ({
  id,
  method,
  order: 0,
  line,
  written: false,
  onEvent: () => undefined,
  onAnswer: (response) => settle(response, undefined),
  onFault: (error) => settle(undefined, error),
  onTooLong: () => undefined,
});
