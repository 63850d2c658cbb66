// defineTool: makes a tool from a name, a description, a schema and a function. Mistakes are found here, when the program starts,
// not by the first caller.

import {
  type AfterExecution,
  DEFAULT_AFTER_EXECUTION,
  type JsonObject,
  type JsonValue,
  PROTOCOL_VERSION,
  parseToken,
  TOOL_OPTION_NAMES,
  type ToolDefinition,
  type ToolOptions,
  ToolplaneError,
  UsageError,
} from "@toolplane/protocol";
import { parseToolDefinition, parseToolName, toolSubjectTemplate } from "@toolplane/protocol/registry";
import type { Log } from "../ports/log.ts";
import type { ToolCall } from "../runner/executor.ts";
import { type ArgumentsOf, type ParametersSchema, readParameters, type ToolParameters } from "./parameters.ts";
import { refuseUnknownKeys } from "./refuse-keys.ts";

/** What `run` gets beside its arguments. */
export interface ToolContext {
  /** Aborted by the deadline, a cancellation, a lost lease, or a service that must stop. Pass it on. */
  readonly signal: AbortSignal;
  /** Shows a piece of progress to programs that watch; never waits, may be lost. */
  readonly emit: (part: JsonValue) => void;
  /** The same for every run of this call and for no other call: give it to systems that take one. */
  readonly idempotencyKey: string;
  /** The values of the variables named in `secrets` and `envs`. They are removed from everything the tool gives back. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly log: Log;
  /** The call itself: who asks, in which turn, under which card. */
  readonly call: ToolCall;
  /** Renews the lease now and learns of a cancellation; happens by itself every few seconds. */
  readonly heartbeat: () => Promise<void>;
}

export interface ToolOptionsInput<S> {
  /** 1 to 64 of the characters A-Z a-z 0-9 _ - */
  readonly name: string;
  /** What models and people read when they choose a tool. */
  readonly description: string;
  /** A schema of any library that can give JSON Schema, or plain JSON Schema. */
  readonly parameters: S;
  /** `safe`: running it again does no harm. Without it the tool is never run twice after a crash. */
  readonly retry?: "safe" | "never" | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly queueTimeoutSeconds?: number | undefined;
  /** What the end of the call does to the agent's turn; `suspend` lets the turn go on. */
  readonly afterExecution?: AfterExecution | undefined;
  /** `strict`: refuse calls made under another definition than this code's. */
  readonly pin?: "strict" | "record" | undefined;
  /** Environment variables the function may read from `secrets`. */
  readonly secrets?: readonly string[] | undefined;
  /** Parameter -> environment variable: the value is put into the arguments where the tool runs. */
  readonly envs?: Readonly<Record<string, string>> | undefined;
  /** Further options of the definition, as they are written there. */
  readonly options?: ToolOptions | undefined;
}

export interface ToolInput<S> extends ToolOptionsInput<S> {
  readonly run: (args: ArgumentsOf<S>, context: ToolContext) => unknown;
}

const KEYS: Readonly<Record<keyof ToolInput<unknown>, true>> = {
  name: true,
  description: true,
  parameters: true,
  run: true,
  retry: true,
  timeoutSeconds: true,
  queueTimeoutSeconds: true,
  afterExecution: true,
  pin: true,
  secrets: true,
  envs: true,
  options: true,
};

/** A tool of this process, whatever the type of its arguments. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly afterExecution: AfterExecution;
  readonly options: ToolOptions;
  readonly secrets: readonly string[];
  /** Checks the arguments, then runs the function. */
  readonly run: (args: JsonObject, context: ToolContext) => Promise<unknown>;
}

const foldOptions = <S>({ options = {}, ...input }: ToolInput<S>): ToolOptions => {
  const folded: ToolOptions = {
    ...options,
    ...(input.retry === undefined ? {} : { retry: input.retry }),
    ...(input.timeoutSeconds === undefined ? {} : { timeout_seconds: input.timeoutSeconds }),
    ...(input.queueTimeoutSeconds === undefined ? {} : { queue_timeout_seconds: input.queueTimeoutSeconds }),
    ...(input.pin === undefined ? {} : { pin: input.pin }),
    ...(input.envs === undefined ? {} : { envs: { ...options.envs, ...input.envs } }),
  };
  return folded;
};

/** The engine compiles the schema when the tool is registered; here only its shape is checked. */
const compileNothing = () => () => [];

export interface DefinitionPlace {
  readonly projectId: string;
  readonly target: string;
}

/** The definition a tool is registered with when it is served under a target. */
export const definitionOf = (tool: Tool, { projectId, target }: DefinitionPlace): ToolDefinition =>
  parseToolDefinition(
    {
      tool_name: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      target_subject: toolSubjectTemplate(parseToken(target, "target"), tool.name),
      after_execution: tool.afterExecution,
      options: tool.options,
    },
    { projectId, version: PROTOCOL_VERSION, compileSchema: compileNothing },
  );

/** Any target works for checking the definition. */
const PROBE: DefinitionPlace = { projectId: "project", target: "target" };

const check = (tool: Tool): Tool => {
  try {
    definitionOf(tool, PROBE);
    return tool;
  } catch (error) {
    if (error instanceof ToolplaneError) throw new UsageError(`defineTool ${tool.name}: ${error.message}`);
    throw error;
  }
};

const nameOf = (name: string): string => {
  try {
    return parseToolName(name);
  } catch (error) {
    throw new UsageError(`defineTool ${JSON.stringify(name)}: ${error instanceof Error ? error.message : "bad name"}`);
  }
};

export const defineTool = <const S extends ParametersSchema>(input: ToolInput<S>): Tool => {
  const name = nameOf(input.name);
  refuseUnknownKeys(input, { taker: `defineTool ${name}`, keys: Object.keys(KEYS), options: TOOL_OPTION_NAMES });
  if (typeof input.run !== "function") throw new UsageError(`defineTool ${name}: run must be a function`);
  const parameters: ToolParameters = readParameters(input.parameters, `defineTool ${name}`);
  const run = input.run as (args: unknown, context: ToolContext) => unknown;
  return check(
    Object.freeze({
      name,
      description: input.description,
      parameters: parameters.jsonSchema,
      afterExecution: input.afterExecution ?? DEFAULT_AFTER_EXECUTION,
      options: foldOptions(input),
      secrets: Object.freeze([...(input.secrets ?? [])]),
      run: async (args: JsonObject, context: ToolContext) => run(await parameters.parse(args), context),
    }),
  );
};
