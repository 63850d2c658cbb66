// The executor of tools that are HTTP operations. It has no code per tool: the definition that the call was made with says what to
// send, and the egress guard is the only way out.
//   HE1. The base address is checked again at every call, by the guard, with the hosts of the definition.
//   HE2. A definition without `openapi` or `jina` options is `bad_request`; nothing is sent.
//   HE3. Arguments and answers are data: neither can change where a request goes or which headers of its own it has.

import { isToolplaneError, resolveOptions, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import {
  type ExecuteContext,
  type Executor,
  type PinnedDefinition,
  type ToolCall,
  ToolError,
  type ToolProfile,
} from "@toolplane/sdk";
import type { HttpPlan } from "./http-plan.ts";
import { isJina } from "./jina-options.ts";
import { createJinaPlan } from "./jina-plan.ts";
import { createOpenapiPlan } from "./openapi-plan.ts";
import { planAnswer } from "./plan-answer.ts";
import type { HttpRequest } from "./plan-request.ts";
import { readAnswer } from "./read-answer.ts";

export interface HttpExecutorOptions {
  /** The egress guard for some hosts. */
  readonly within: (hosts: readonly string[]) => typeof globalThis.fetch;
  readonly now: () => number;
  /** Random text. */
  readonly token: () => string;
}

const isFilled = (value: object | undefined): value is object => value !== undefined && Object.keys(value).length > 0;

const refuse = (message: string, path: string): ToolplaneError =>
  new ToolplaneError("bad_request", message, { detail: { path } });

/** Only answers say whether a request may be tried again in the same run (PA3); a request without an answer is not. */
const onceOnly = (error: unknown): unknown => {
  if (!isToolplaneError(error)) return error;
  const { code, message, detail } = error;
  // The caller may make the call again: the network may be back.
  const retryable = code === "upstream_unavailable" ? true : undefined;
  return new ToolError(code, message, { detail, retryable, retryHere: false, cause: error });
};

const planOf = (definition: ToolDefinition): HttpPlan => {
  if (isJina(definition)) return createJinaPlan(definition);
  if (isFilled(definition.options.openapi)) return createOpenapiPlan(definition);
  throw refuse(
    "a tool of the target openapi needs options.openapi with a base_url, or options.jina with a mode: add one of them",
    "$.options",
  );
};

/** A definition of an earlier version of the plane may say what is refused today: then its call says what is wrong with it. */
const planStored = (definition: ToolDefinition): HttpPlan => {
  try {
    return planOf(definition);
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
    const { code, message, detail } = error;
    const name = definition.tool_name;
    throw new ToolplaneError(code, `the definition of ${name} cannot be run: ${message}`, {
      detail: { ...detail, definition: name },
      cause: error,
    });
  }
};

/** For the registration: a definition that could not be run is refused with the same sentence as its call would be. */
export const checkHttpDefinition = (definition: ToolDefinition): void => {
  planOf(definition);
  const empty = (["jina", "openapi"] as const).find((key) => {
    const given = definition.options[key];
    return given !== undefined && !isFilled(given);
  });
  if (empty !== undefined)
    throw refuse(`options.${empty} is empty and does nothing: fill it in, or leave it out`, `$.options.${empty}`);
};

export const createHttpExecutor = ({ within, now, token }: HttpExecutorOptions): Executor => {
  // The runner passes the same frozen definition for every call that was made with it.
  const plans = new WeakMap<ToolDefinition, HttpPlan>();
  const planFor = (definition: ToolDefinition): HttpPlan => {
    const known = plans.get(definition) ?? planStored(definition);
    plans.set(definition, known);
    return known;
  };

  /** Plans that were run without the key that they can do without: said once, because it is so for every call. */
  const saidWithoutKey = new WeakSet<HttpPlan>();
  const sayWithoutKey = (plan: HttpPlan, variable: string, { log }: ExecuteContext): void => {
    if (saidWithoutKey.has(plan)) return;
    saidWithoutKey.add(plan);
    log.warn("the Jina reader is asked without a key: it lets fewer requests through", {
      variable,
      todo: `set ${variable} where the tool runs, and list it in secrets.allow_env of toolplane.yaml`,
    });
  };

  const profileOf = ({ definition, definitionHash }: PinnedDefinition): ToolProfile => {
    const { retry, retryPolicy, timeoutSeconds, pin, control } = resolveOptions(definition.options);
    const { declared, isRepeatable = false } = planFor(definition);
    const isSafe = retry === "safe" || (definition.options.retry === undefined && isRepeatable);
    const isRetriedByPlane = retryPolicy !== undefined;
    return {
      retry: isSafe ? "safe" : "never",
      isRetriedByPlane,
      timeoutSeconds,
      pin,
      control,
      definitionHash,
      ...declared,
    };
  };

  const send = async ({ allowHosts, timeoutMs }: HttpPlan, request: HttpRequest, { signal }: ExecuteContext) => {
    const { url, method, headers, body } = request;
    const limit = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const startedAt = now();
    try {
      const response = await within(allowHosts)(url, {
        method,
        headers,
        signal: limit === undefined ? signal : AbortSignal.any([signal, limit]),
        ...(body === undefined ? {} : { body: body as string }),
      });
      return await readAnswer(response, startedAt, now);
    } catch (error) {
      if (limit?.aborted === true && !signal.aborted)
        throw onceOnly(
          new ToolplaneError("tool_timeout", `the API did not answer within ${(timeoutMs ?? 0) / 1_000} s`, {
            detail: { limit: "timeout_s" },
          }),
        );
      throw onceOnly(error);
    }
  };

  return {
    find: () => undefined,
    profileOf,
    async execute(call: ToolCall, context: ExecuteContext) {
      const { definition, toolName, toolCallId } = call;
      if (definition === undefined) throw new ToolplaneError("not_found", `there is no definition of ${toolName}`);
      const plan = planFor(definition);
      const { secrets, idempotencyKey, log, scrub } = context;
      const request = plan.request({ arguments: call.arguments, secrets, idempotencyKey, boundary: token() });
      if (request.withoutKey !== undefined) sayWithoutKey(plan, request.withoutKey, context);
      if (request.leftOut.length > 0)
        log.warn("arguments with secret values were not sent: they would be part of the address", {
          arguments: request.leftOut.join(", "),
          todo: "options.secrets_in_url: true allows it",
        });
      if (request.dropped !== undefined && request.dropped.length > 0)
        log.warn("arguments were not sent: the API has no place for them", { arguments: request.dropped.join(", ") });
      const answer = await send(plan, request, context);
      const [variable] = plan.declared.secrets ?? [];
      return planAnswer(answer, { toolName, toolCallId, now: now(), scrub, variable });
    },
  };
};
