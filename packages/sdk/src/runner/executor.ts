// How one kind of tool runs: a function of this process, an HTTP operation, a host, an MCP server. The runner does everything
// around it, so an executor knows nothing of leases, cards that must be written, or who reports what.

import type { AfterExecution, Card, CGContext, JsonObject, JsonValue, ToolDefinition } from "@toolplane/protocol";
import type { Log } from "../ports/log.ts";
import type { SecretDeclaration } from "../secrets/secret-source.ts";

/** What the code says about a tool; the plane has its own copy in the definition. */
export interface ToolProfile extends SecretDeclaration {
  /** `safe`: may run again when it is not known whether it ran. */
  readonly retry: "safe" | "never";
  /** True: the plane tries a failed attempt again (`retry_policy`), so one lease runs the tool once. */
  readonly isRetriedByPlane?: boolean | undefined;
  /** Counted from the lease. */
  readonly timeoutSeconds: number;
  /** `strict`: refuse a call that was made under another definition. */
  readonly pin: "strict" | "record";
  /** The hash of the definition this code was registered with. */
  readonly definitionHash?: string | undefined;
  /** `strip`: the executor relays foreign bodies, whose control keys mean nothing here (I11). */
  readonly control: "allow" | "strip";
}

/** One call, for code that wants to know more than its arguments. */
export interface ToolCall {
  readonly toolName: string;
  /** The subject the command came on. */
  readonly subject?: string | undefined;
  readonly toolCallId: string;
  /** Who is calling, in which turn and step, at which depth, in which trace. */
  readonly context: CGContext;
  readonly afterExecution: AfterExecution;
  /** The tool.call card. */
  readonly card: Card;
  /** The arguments with injected values. */
  readonly arguments: JsonObject;
  /** This run's own span, for requests the tool makes. */
  readonly traceparent: string;
  /** 1 for the first run. It goes on counting when the tool is tried again, by this service or after another one was lost. */
  readonly attempt: number;
  /** When the signal will be aborted, on the service's clock. */
  readonly deadline: number;
  readonly session: JsonObject | undefined;
  /** The definition that the call was made with; only for executors that run definitions (`profileOf`). */
  readonly definition?: ToolDefinition | undefined;
  readonly leaseId: string | undefined;
}

export interface ExecuteContext {
  /** Aborted by the deadline, a cancellation, a lost lease, or a service that must stop. */
  readonly signal: AbortSignal;
  /** Shows progress; never waits, never fails, may be lost. */
  readonly emit: (part: JsonValue) => void;
  /** Renews the lease now; it is renewed by itself anyway. A cancellation learnt by it aborts the signal. */
  readonly heartbeat: () => Promise<void>;
  readonly log: Log;
  /** The same for every run of this call, and for no other call. */
  readonly idempotencyKey: string;
  /** Variable -> value, for the variables the code declared. */
  readonly secrets: Readonly<Record<string, string>>;
  /** A text without the call's secrets. The runner removes them anyway; a text that is cut must lose them before the cut. */
  readonly scrub: (text: string) => string;
}

/** A definition with its hash, both checked against each other. */
export interface PinnedDefinition {
  readonly definition: ToolDefinition;
  readonly definitionHash: string;
}

export interface Executor {
  /** Undefined for a tool it does not have, and for every tool when the executor has `profileOf`. */
  find(toolName: string): ToolProfile | undefined;
  /**
   * For executors that have no code per tool: the definition itself says what to do. The runner then reads the version that the
   * call was made with, asks for its profile here and passes the definition in `call.definition`. Throws when the definition is
   * not one of this executor.
   */
  profileOf?(pinned: PinnedDefinition): ToolProfile;
  /** The result's value, or a PreparedResult; throws a ToolError (or anything) for a failure. */
  execute(call: ToolCall, context: ExecuteContext): Promise<unknown>;
}
