// One call on its way through the pool: waiting, in a process, waiting again after a crash, settled once.
// One object per call and methods instead of closures: this is the hot path.

import { isToolplaneError, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import { encodeHostCall, encodeHostRequest, type HostResponse, parseToolOutcome } from "@toolplane/protocol/host";
import type { ExecuteRequest, ExecuteResult } from "./host.ts";
import type { Attempt, JobPlace } from "./job-place.ts";
import { hostSaidError, timeoutError } from "./plan-failure.ts";

const NOTHING = (): void => {};

/** With `deadline` negotiated, the host may notice the end of the time first. It is the same deadline. */
const DEADLINE_TYPE = "DeadlineExceeded";

export abstract class PoolTask {
  readonly method: string;
  readonly retrySafe: boolean;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
  readonly emit: ((part: JsonValue) => void) | undefined;
  deadlineAt = 0;
  /** Requests that were given to a process. */
  attempts = 0;
  /** Starts that failed while it waited. */
  failedStarts = 0;
  parts = 0;
  partBytes = 0;
  /** The attempt that is in a process; undefined while it waits. */
  running: Attempt | undefined = undefined;
  pid: number | undefined = undefined;
  written = false;
  settled = false;
  stopListening: () => void = NOTHING;

  constructor(
    method: string,
    retrySafe: boolean,
    limits: {
      deadlineMs: number;
      signal?: AbortSignal | undefined;
      emit?: ((part: JsonValue) => void) | undefined;
    },
  ) {
    this.method = method;
    this.retrySafe = retrySafe;
    this.deadlineMs = limits.deadlineMs;
    this.signal = limits.signal;
    this.emit = limits.emit;
  }

  /** The line of one attempt. */
  abstract encode(id: string, place: JobPlace, msLeft: number): string;
  abstract onAnswer(response: HostResponse): void;
  abstract onFailed(error: ToolplaneError): void;
}

/** A tool's run. */
export class ExecuteTask extends PoolTask {
  readonly #host: string;
  readonly #request: ExecuteRequest;
  readonly #resolve: (result: ExecuteResult) => void;

  constructor(
    host: string,
    request: ExecuteRequest,
    choice: { readonly retrySafe: boolean; readonly callMs: number },
    resolve: (result: ExecuteResult) => void,
  ) {
    super("execute_tool", choice.retrySafe, {
      deadlineMs: request.deadlineMs ?? choice.callMs,
      signal: request.signal,
      emit: request.emit,
    });
    this.#host = host;
    this.#request = request;
    this.#resolve = resolve;
  }

  override encode(id: string, { initState, takesDeadline }: JobPlace, msLeft: number): string {
    const { toolName, arguments: given, state = initState } = this.#request;
    const deadlineMs = takesDeadline ? msLeft : undefined;
    return encodeHostCall(id, { toolName, arguments: given, state, deadlineMs });
  }

  override onAnswer(response: HostResponse): void {
    if (!response.ok) {
      const overdue = response.error.type === DEADLINE_TYPE;
      this.onFailed(overdue ? timeoutError(this.#host, this.deadlineMs, true) : hostSaidError(this.#host, response));
      return;
    }
    try {
      const said = parseToolOutcome(response.value);
      if (said.success) this.#succeed(said.result, response.state);
      else this.onFailed(new ToolplaneError("tool_error", said.error));
    } catch (error) {
      if (!isToolplaneError(error)) throw error;
      this.onFailed(error);
    }
  }

  override onFailed(error: ToolplaneError): void {
    const { written, attempts, pid } = this;
    this.#resolve({ outcome: { status: "failed", error, written }, state: undefined, attempts, pid });
  }

  #succeed(result: JsonValue, state: JsonObject | undefined): void {
    const { attempts, pid } = this;
    this.#resolve({ outcome: { status: "success", result }, state, attempts, pid });
  }
}

export interface Question {
  readonly method: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
  readonly params: (place: JobPlace) => JsonObject;
}

/** A question about a tool or a result: it changes nothing, so it may be asked again. */
export class QuestionTask extends PoolTask {
  readonly #question: Question;
  readonly #resolve: (response: HostResponse) => void;
  readonly #reject: (error: ToolplaneError) => void;

  constructor(question: Question, resolve: (response: HostResponse) => void, reject: (error: ToolplaneError) => void) {
    super(question.method, true, question);
    this.#question = question;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  override encode(id: string, place: JobPlace): string {
    return encodeHostRequest(id, this.method, this.#question.params(place));
  }

  override onAnswer(response: HostResponse): void {
    this.#resolve(response);
  }

  override onFailed(error: ToolplaneError): void {
    this.#reject(error);
  }
}
