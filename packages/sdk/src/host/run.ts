// One request while plugin code works on it: its signal, its parts, its log. It is made for every request, so parts that most
// tools never use (a signal, a timer) are made when they are first asked for.
// RN1. A request is answered once; parts and log events after the answer are dropped.

import { isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { encodeHostEvent, type HostRequest } from "@toolplane/protocol/host";
import { createLineLog, type Log, type LogFields } from "../ports/log.ts";
import type { LineWriter } from "./line-writer.ts";
import { toJson } from "./plain-json.ts";
import type { EmitPart } from "./plugin.ts";

/** A tool that awaits its parts continues when less than this waits for the parent. */
const PART_ROOM = 1024 * 1024;
/** From here on parts of tools that do not await are dropped: a slow parent must not cost unbounded memory. */
const MAX_WAITING_PARTS = 16 * 1024 * 1024;

/** A JavaScript timer with a longer delay fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface RunDeps {
  readonly writer: LineWriter;
  /** For notes that no event carries. */
  readonly stderr: (text: string) => void;
  readonly now: () => number;
  /** Did the parent take the `log` extension? */
  readonly logsAsEvents: () => boolean;
}

const isEvent = (part: unknown): part is { readonly type: "part"; readonly payload: unknown } =>
  isRecord(part) && part.type === "part" && "payload" in part && Object.keys(part).length === 2;

/** A field that is not JSON must not cost the whole entry. */
const fieldsOf = (fields: LogFields): JsonObject => {
  try {
    return toJson(fields, "the log entry") as JsonObject;
  } catch {
    return {};
  }
};

export class Run {
  readonly id: string;
  readonly method: string;
  readonly state: JsonObject | undefined;
  answered = false;
  canceled = false;
  /** The deadline has passed; a result that the tool returns all the same still counts. */
  late = false;
  readonly #deps: RunDeps;
  readonly #deadlineMs: number | undefined;
  readonly #startedAt: number;
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;

  constructor(
    { id, method }: HostRequest,
    state: JsonObject | undefined,
    deadlineMs: number | undefined,
    deps: RunDeps,
  ) {
    this.id = id;
    this.method = method;
    this.state = state;
    this.#deadlineMs = deadlineMs;
    this.#deps = deps;
    this.#startedAt = deadlineMs === undefined ? 0 : deps.now();
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.canceled) this.#abort("AbortError", "the call was canceled");
      else if (this.#deadlineMs !== undefined) this.#arm(this.#deadlineMs);
    }
    return this.#controller.signal;
  }

  /** Counted from the arrival of the request, however late the signal is asked for. */
  #arm(deadlineMs: number): void {
    const left = deadlineMs - (this.#deps.now() - this.#startedAt);
    this.#timer = setTimeout(() => this.#expire(), Math.min(Math.max(left, 0), MAX_TIMER_MS));
    this.#timer.unref();
  }

  #expire(): void {
    this.late = true;
    this.#abort("TimeoutError", "the call's time is over");
  }

  #abort(name: string, message: string): void {
    this.#controller?.abort(new DOMException(message, name));
  }

  /** The answer will be Canceled, whenever the plugin's code returns. */
  cancel(): void {
    this.canceled = true;
    this.#abort("AbortError", "the call was canceled");
  }

  /** After the answer. */
  close(): void {
    this.answered = true;
    clearTimeout(this.#timer);
    if (this.#dropped > 0)
      this.#deps.stderr(`toolplane warn: ${this.#dropped} parts were dropped: the parent reads too slowly\n`);
  }

  /** Made when it is asked for: most tools emit nothing. */
  get emit(): EmitPart {
    return (part) => this.#emit(part);
  }

  #emit(part: unknown): Promise<void> | undefined {
    const { writer, stderr } = this.#deps;
    if (this.answered) return undefined;
    let payload: JsonValue;
    try {
      payload = toJson(isEvent(part) ? part.payload : part, "the part");
    } catch (error) {
      stderr(`toolplane warn: a part was dropped: ${error instanceof Error ? error.message : "unreadable"}\n`);
      return undefined;
    }
    if (writer.waiting() > MAX_WAITING_PARTS) this.#dropped += 1;
    else writer.write(encodeHostEvent(this.id, "part", payload));
    return writer.waiting() < PART_ROOM ? undefined : writer.below(PART_ROOM);
  }

  get log(): Log {
    const note = (level: "info" | "warn" | "error") => (message: string, fields?: LogFields) => {
      const { writer, stderr, logsAsEvents } = this.#deps;
      if (this.answered || !logsAsEvents()) createLineLog(stderr)[level](message, fields);
      else
        writer.write(encodeHostEvent(this.id, "log", { ...fieldsOf(fields ?? {}), level, message: String(message) }));
    };
    return { info: note("info"), warn: note("warn"), error: note("error") };
  }
}
