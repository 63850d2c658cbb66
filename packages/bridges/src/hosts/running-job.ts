// A request of the pool while it is in a process: what it is told, and by whom.
// J1. It ends once; what comes after it was given up changes nothing.

import type { JsonObject, ToolplaneError } from "@toolplane/protocol";
import type { HostResponse } from "@toolplane/protocol/host";
import type { Ask, HostEventPayload } from "./host-connection.ts";

/** The process a job runs in. */
export interface JobPlace {
  readonly pid: number | undefined;
  readonly initState: JsonObject;
  readonly extensions: readonly string[];
  hear(payload: HostEventPayload): void;
  tooLong(): ToolplaneError;
  jobDone(running: RunningJob, answered: boolean): void;
  giveUp(running: RunningJob): void;
}

export type JobEnd =
  | { readonly kind: "answer"; readonly response: HostResponse }
  /** The host answered, and the answer cannot be used. */
  | { readonly kind: "fault"; readonly error: ToolplaneError }
  /** The process is gone. */
  | { readonly kind: "lost"; readonly written: boolean; readonly why: string };

/** One request of the pool, as the process that runs it sees it. */
export interface Job {
  readonly method: string;
  params(process: JobPlace): JsonObject;
  onPart(payload: HostEventPayload, bytes: number, pid: number): void;
  onEnd(end: JobEnd, process: JobPlace): void;
}

/** A job on its way. */
export class RunningJob implements Ask {
  readonly id: string;
  readonly line: string;
  written = false;
  abandoned = false;
  readonly #job: Job;
  readonly #process: JobPlace;

  constructor(id: string, line: string, job: Job, process: JobPlace) {
    this.id = id;
    this.line = line;
    this.#job = job;
    this.#process = process;
  }

  onEvent(type: string, payload: HostEventPayload, bytes: number): void {
    if (type === "log") this.#process.hear(payload);
    else if (type === "part" && !this.abandoned) this.#job.onPart(payload, bytes, this.#process.pid ?? 0);
  }

  onAnswer(response: HostResponse): void {
    this.#process.jobDone(this, true);
    this.#tell({ kind: "answer", response });
  }

  onFault(error: ToolplaneError): void {
    this.#process.jobDone(this, true);
    this.#tell({ kind: "fault", error });
  }

  onTooLong(): void {
    if (this.abandoned) return;
    this.#tell({ kind: "fault", error: this.#process.tooLong() });
    this.abandoned = true;
    this.#process.giveUp(this);
  }

  onLost(why: string): void {
    this.#tell({ kind: "lost", written: this.written, why });
  }

  #tell(end: JobEnd): void {
    if (!this.abandoned) this.#job.onEnd(end, this.#process);
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
