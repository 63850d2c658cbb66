// What a module gives to a tool host. Authors write any of it as an object or a class; the host asks only for what is there.

import type { JsonObject, JsonValue } from "@toolplane/protocol";
import type { Log } from "../ports/log.ts";

/** A tool as models see it; the wrapped form `{type: "function", function: {...}}` is as good. */
export interface HostToolSchema {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: object;
}

export interface WrappedToolSchema {
  readonly type: "function";
  readonly function: HostToolSchema;
}

/** What executeTool returns. Without a `state` in it, the state that was given goes back, with the changes made in place. */
export type HostOutcome =
  | { readonly success: true; readonly result?: unknown; readonly state?: object | undefined }
  | { readonly success: false; readonly error: unknown; readonly state?: object | undefined };

/** Shows progress. Awaiting it slows the tool down to the parent's reading; without `await` parts may be lost. */
export type EmitPart = (part: unknown) => Promise<void> | undefined;

export interface HostToolCall<State = JsonObject> {
  readonly toolName: string;
  readonly arguments: JsonObject;
  /** The session's own state: changes made here come back with the next call. */
  readonly state: State;
  readonly emit: EmitPart;
  /** Aborted by a cancellation, the deadline, or the end of the host. Pass it on. */
  readonly signal: AbortSignal;
  /** Milliseconds the parent gave this call, if it said so. */
  readonly deadlineMs: number | undefined;
  readonly log: Log;
}

type Async<T> = T | Promise<T>;

export interface HostPlugin<State = JsonObject> {
  /** Makes the state a session begins with; nothing means an empty one. */
  init?(config: JsonObject): Async<State | undefined>;
  getToolSchemas(state: State): Async<readonly (HostToolSchema | WrappedToolSchema)[]>;
  executeTool(call: HostToolCall<State>): Async<HostOutcome>;
  /** JSON Schema of what init takes. */
  getConfigSchema?(): Async<object>;
  getUiElements?(): Async<readonly object[]>;
  getTags?(about: { readonly config: JsonObject; readonly models: readonly JsonObject[] }): Async<readonly string[]>;
  requiredTags?(): Async<readonly string[]>;
  /** What the model reads: a text, or an explicit provider-native envelope. */
  formatToolResult?(about: { readonly result: JsonValue; readonly state: State }): Async<string | object>;
  formatToolCallPreview?(about: {
    readonly toolName: string;
    readonly arguments: JsonObject;
    readonly state: State;
  }): Async<string>;
  toDisplayFormat?(about: { readonly text: string; readonly result: JsonValue; readonly state: State }): Async<object>;
}
