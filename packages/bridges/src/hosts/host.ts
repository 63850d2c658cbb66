// A tool host as the rest of the project sees it: a supervised child process, or a few of them, that offers tools.
// What it promises:
//   HS1. `execute` always ends, at its deadline at the latest, with a result or an error that has a code; it never rejects.
//   HS2. A call whose request may have reached a process that died is run again only if its tool is `retrySafe`.
//   HS3. No process outlives `close`, a deadline it ignored, or this process.
//   HS4. Whatever a host writes, its memory use here is bounded by the limits.

import type { Guard } from "@toolplane/processes";
import type { JsonObject, JsonValue, ToolplaneError } from "@toolplane/protocol";
import type { FormattedResult, HostExtension, HostTool, RefusedHostTool } from "@toolplane/protocol/host";
import type { SchemaIssue } from "@toolplane/protocol/registry";
import type { Log, Random } from "@toolplane/sdk";
import type { HostLimits } from "./host-limits.ts";

/** What a Node host may touch; everything that is not named is refused by Node's permission model. */
export interface HostSandbox {
  /** Files and folders, from the host's working directory; what Node needs to load the program is added. */
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly childProcess?: boolean;
}

export interface HostOptions {
  /** For people and for log lines; `text` in `text__count_words`. */
  readonly name: string;
  /** An argv, never a shell line. `node` as the program means the Node that runs us. */
  readonly command: readonly string[];
  readonly config?: JsonObject;
  /** An absolute path; relative programs and modules are looked up from here. */
  readonly cwd: string;
  /** Variables of ours that the host may have, besides PATH, HOME, TMPDIR and LANG. */
  readonly env?: readonly string[];
  /** Globs of tool names (`*` is any text): tools that may run again when it is not known whether they ran. */
  readonly retrySafe?: readonly string[];
  readonly sandbox?: HostSandbox;
  /** Folders that no sandbox opens, whatever it names: those of the plane itself. */
  readonly closed?: readonly string[];
  /** As root: every process runs under a user of its own, which owns nothing and can read only what all users can. */
  readonly ownUser?: boolean;
  readonly limits?: Partial<HostLimits>;
}

/** Something a host did that breaks no call but that the operator should know. */
const DIAGNOSTICS = [
  "stray_output",
  "line_too_long",
  "unreadable_message",
  "unknown_id",
  "already_answered",
  "unexpected_request",
  "host_error",
  "parts_dropped",
  "crashed",
  "killed",
  "plain_v1",
] as const;
export type DiagnosticKind = (typeof DIAGNOSTICS)[number];

export interface HostDiagnostic {
  readonly kind: DiagnosticKind;
  /** One sentence; never a piece of what the host wrote beyond a short excerpt. */
  readonly message: string;
  readonly pid: number | undefined;
  /** Further ones of the kind that were not reported, because there were too many. */
  readonly suppressed: number;
}

/**
 * The problems of a value, or none; rejects when the schema itself cannot be used. Asynchronous, because a host's schema may take
 * long to read.
 */
export type CheckSchema = (schema: JsonObject, value?: JsonValue) => Promise<readonly SchemaIssue[]>;

export interface HostPorts {
  /** Checks `config` against the host's own schema; without it the config is passed on unchecked. */
  readonly checkSchema?: CheckSchema;
  readonly log?: Log;
  /** Our own variables, from which the allowed ones are taken. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly random?: Random;
  /** Name -> value of the host's secrets: they are removed from everything it says. */
  readonly secrets?: ReadonlyMap<string, string>;
  readonly onDiagnostic?: (diagnostic: HostDiagnostic) => void;
  readonly guard?: Guard;
}

export interface HostDescription {
  readonly name: string;
  readonly tools: readonly HostTool[];
  /** Schemas that cannot be used, by name. */
  readonly refused: readonly RefusedHostTool[];
  /** What a call without a session starts from. */
  readonly initState: JsonObject;
  readonly configSchema: JsonObject | undefined;
  /** Undefined when the host does not offer the method. */
  readonly tags: readonly string[] | undefined;
  readonly requiredTags: readonly string[] | undefined;
  readonly uiElements: readonly JsonObject[] | undefined;
  readonly extensions: readonly HostExtension[];
  readonly protocolVersion: 1;
  /** The process that described itself; it may be gone by now. */
  readonly pid: number;
}

export interface ExecuteRequest {
  /** As the host calls it, without a prefix. */
  readonly toolName: string;
  readonly arguments: JsonObject;
  /** A session's state; the init state of the process when absent. */
  readonly state?: JsonObject | undefined;
  /** How long the call may take, waiting for a process included; the limit `callMs` when absent. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Parts, in order, none after the result. */
  readonly emit?: ((part: JsonValue) => void) | undefined;
}

export type HostOutcome =
  | { readonly status: "success"; readonly result: JsonValue }
  | {
      readonly status: "failed";
      /**
       * `tool_error`: the tool refused. `internal_error` (detail `{type, detail}`): the host failed. `outcome_unknown`,
       * `upstream_unavailable`: a process died. `tool_timeout`, `canceled`, `result_too_large`, `protocol_violation`,
       * `rate_limited` (queue full), `breaker_open`, `not_found` (no such program).
       */
      readonly error: ToolplaneError;
      /** Whether the last attempt's request may have reached a process. */
      readonly written: boolean;
    };

export interface ExecuteResult {
  readonly outcome: HostOutcome;
  /** The state after the call; undefined after a failed one, which changes nothing. */
  readonly state: JsonObject | undefined;
  /** How many requests were sent for it. */
  readonly attempts: number;
  readonly pid: number | undefined;
}

/** Limits of one optional question; the same meaning as in ExecuteRequest. */
export interface AskOptions {
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export type HostProcessState = "starting" | "ready" | "draining" | "stopping";

export interface HostProcessStatus {
  readonly pid: number | undefined;
  readonly state: HostProcessState;
  readonly inFlight: number;
  readonly answered: number;
  readonly startedAt: number;
  readonly extensions: readonly HostExtension[];
}

export interface HostStatus {
  readonly name: string;
  readonly processes: readonly HostProcessStatus[];
  readonly queued: number;
  /** Processes started, and those that ended without being asked to. */
  readonly starts: number;
  readonly crashes: number;
  readonly breaker: { readonly state: "closed" | "open" | "half_open"; readonly retryInMs: number };
  /** The last lines of stderr, scrubbed and cut, oldest first; those of processes that are gone included. */
  readonly lastStderr: readonly string[];
  /** Why the last failed process failed, in one sentence. */
  readonly lastFailure: string | undefined;
}

export interface ToolHost extends AsyncDisposable {
  readonly name: string;
  /** Starts one process and reads what it offers. Rejects with a ToolplaneError that says what to do; may be called again. */
  start(): Promise<HostDescription>;
  /** What the first process that started said; undefined before. */
  describe(): HostDescription | undefined;
  isRetrySafe(toolName: string): boolean;
  /** Never rejects. Starts processes as needed, also before `start`. */
  execute(request: ExecuteRequest): Promise<ExecuteResult>;
  /** The four below: undefined when the host does not offer the method; reject with a ToolplaneError. */
  formatResult(
    request: { readonly result: JsonValue; readonly state?: JsonObject | undefined } & AskOptions,
  ): Promise<FormattedResult | undefined>;
  formatCallPreview(
    request: {
      readonly toolName: string;
      readonly arguments: JsonObject;
      readonly state?: JsonObject | undefined;
    } & AskOptions,
  ): Promise<string | undefined>;
  toDisplayFormat(
    request: {
      readonly text: string;
      readonly result: JsonValue;
      readonly state?: JsonObject | undefined;
    } & AskOptions,
  ): Promise<JsonObject | undefined>;
  status(): HostStatus;
  /** Fails waiting calls, asks the processes to finish, ends them; resolves when none is left. */
  close(): Promise<void>;
}
