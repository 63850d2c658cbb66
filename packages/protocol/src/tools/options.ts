// The options of a tool definition, key by key. Unknown keys are refused by name: a misspelt limit must not be silently ignored.
// Only what the author wrote is stored; `resolveOptions` fills in the defaults, so a changed default changes no hash.

import { z } from "zod";
import type { JsonValue } from "../json/json-value.ts";
import { MAX_NAME_LENGTH } from "./fold-name.ts";
import {
  type Breaker,
  breakerSchema,
  concurrencySchema,
  type Rate,
  type RetryPolicy,
  rateSchema,
  retryPolicySchema,
} from "./limits.ts";
import { isTemplateVariable, TEMPLATE_VARIABLES } from "./template.ts";

/** A run is bounded by a timer; timers of JavaScript run at most 24 days. */
const MAX_RUN_SECONDS = 7 * 86_400;
/** A call may wait for a person or a far date, but not for ever. */
const MAX_WAIT_SECONDS = 366 * 86_400;

/** Uploads are copied as JSON before they come here, so any value will do. */
const jsonObject = z.record(z.string(), z.custom<JsonValue>());
/** A parameter that the author manages; every argument's name is compared with it in every call. */
const managedName = z.string().max(MAX_NAME_LENGTH, `a name has at most ${MAX_NAME_LENGTH} characters`);
const managedValues = z.record(managedName, z.custom<JsonValue>());
const runSeconds = z.number().positive().max(MAX_RUN_SECONDS);
const waitSeconds = z.number().positive().max(MAX_WAIT_SECONDS);
const templateVariable = z.string().refine(isTemplateVariable, {
  error: `not a template variable (known: ${TEMPLATE_VARIABLES.join(", ")})`,
});

/** Tags are compared one by one with those of a model, for every tool of every step. */
const tagList = z.array(z.string().min(1).max(64)).max(32);

/** `external`: only for arguments that derive from cards of external trust. */
const APPROVAL_POLICIES = ["required", "external", "never"] as const;
const approvalPolicy = z.enum(APPROVAL_POLICIES);

export const toolOptionsSchema = z.strictObject({
  args: z
    .strictObject({
      defaults: managedValues.optional(),
      fixed: managedValues.optional(),
      /** Template variables that may have no value in a call; then they are replaced by nothing. */
      allow_null: z.array(templateVariable).max(TEMPLATE_VARIABLES.length).optional(),
    })
    .optional(),
  envs: z.record(managedName, z.string()).optional(),
  timeout_seconds: runSeconds.optional(),
  queue_timeout_seconds: waitSeconds.optional(),
  retry: z.enum(["safe", "never"]).optional(),
  concurrency: concurrencySchema.optional(),
  rate: rateSchema.optional(),
  breaker: breakerSchema.optional(),
  retry_policy: retryPolicySchema.optional(),
  approval: z
    .union([approvalPolicy, z.strictObject({ policy: approvalPolicy, timeout_seconds: waitSeconds.optional() })], {
      error: "must be required, external, never, or {policy, timeout_seconds}",
    })
    .optional(),
  control: z.enum(["allow", "strip"]).optional(),
  pin: z.enum(["strict", "record"]).optional(),
  service: z.enum(["plain", "leased"]).optional(),
  secrets_in_url: z.boolean().optional(),
  ui_allowed: z.boolean().optional(),
  /** The state that a call continues: none, its agent's, or that of the session named by its `session_id` argument. */
  session: z.enum(["none", "agent", "argument"]).optional(),
  /** What the tool is about, for people and for programs that choose tools. */
  tags: tagList.optional(),
  /** Tags that a model must have to be offered the tool. */
  required_tags: tagList.optional(),
  /** A name for people. */
  title: z.string().min(1).max(256).optional(),
  /** The JSON Schema of the result, for clients that read it; results are not checked against it. */
  output_schema: jsonObject.optional(),
  /** Hints for people and clients; the plane itself acts on `retry` and `approval` only. */
  annotations: z
    .strictObject({
      read_only: z.boolean().optional(),
      destructive: z.boolean().optional(),
      idempotent: z.boolean().optional(),
      open_world: z.boolean().optional(),
    })
    .optional(),
  /** The parameter that gets the answers when the tool asks something (`__cg_input`); callers do not see it. */
  input: managedName.optional(),
  /** When an MCP client gets a task in place of a result: after a moment, at once, always (or it is refused), never. */
  task: z.enum(["auto", "preferred", "required", "never"]).optional(),
  jina: jsonObject.optional(),
  openapi: jsonObject.optional(),
  /** Older spellings read by the HTTP executor. */
  timeout_s: runSeconds.optional(),
  timeout: runSeconds.optional(),
});

/** Without the older spellings. */
export const TOOL_OPTION_NAMES: readonly string[] = Object.keys(toolOptionsSchema.shape).filter(
  (name) => name !== "timeout_s" && name !== "timeout",
);

export type ToolOptions = z.infer<typeof toolOptionsSchema>;

/** Counted from the lease: as long as a synchronous caller waits. */
export const DEFAULT_TIMEOUT_SECONDS = 30;
/** Counted from dispatch: a day, so a service that is down over night loses nothing. */
const DEFAULT_QUEUE_TIMEOUT_SECONDS = 86_400;
/** Counted from the request for approval: people answer within a working day. */
const DEFAULT_APPROVAL_SECONDS = 86_400;

export interface ResolvedToolOptions {
  readonly timeoutSeconds: number;
  readonly queueTimeoutSeconds: number;
  readonly retry: "safe" | "never";
  readonly concurrency: number | undefined;
  readonly rate: Rate | undefined;
  readonly breaker: Breaker | undefined;
  readonly retryPolicy: RetryPolicy | undefined;
  readonly approval: { readonly policy: (typeof APPROVAL_POLICIES)[number]; readonly timeoutSeconds: number };
  readonly control: "allow" | "strip";
  readonly pin: "strict" | "record";
  readonly service: "plain" | "leased";
  readonly secretsInUrl: boolean;
  readonly uiAllowed: boolean;
  readonly session: "none" | "agent" | "argument";
  readonly requiredTags: readonly string[];
}

export const resolveOptions = (options: ToolOptions): ResolvedToolOptions => {
  const approval = typeof options.approval === "string" ? { policy: options.approval } : options.approval;
  return {
    timeoutSeconds: options.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
    queueTimeoutSeconds: options.queue_timeout_seconds ?? DEFAULT_QUEUE_TIMEOUT_SECONDS,
    retry: options.retry ?? "never",
    concurrency: options.concurrency,
    rate: options.rate,
    breaker: options.breaker,
    retryPolicy: options.retry_policy,
    approval: {
      policy: approval?.policy ?? "never",
      timeoutSeconds: approval?.timeout_seconds ?? DEFAULT_APPROVAL_SECONDS,
    },
    control: options.control ?? "strip",
    pin: options.pin ?? "record",
    service: options.service ?? "leased",
    secretsInUrl: options.secrets_in_url ?? false,
    uiAllowed: options.ui_allowed ?? false,
    session: options.session ?? "none",
    requiredTags: options.required_tags ?? [],
  };
};

/** Whether a model with these tags can use the tool. */
export const isOfferedTo = (options: ToolOptions, modelTags: readonly string[]): boolean =>
  resolveOptions(options).requiredTags.every((tag) => modelTags.includes(tag));
