// The public face of @toolplane/sdk: what a tool author needs, then what a service is made of.

export { type Clock, systemClock } from "./ports/clock.ts";
export { createIds, type Ids, type Random } from "./ports/ids.ts";
export { type Log, type LogFields, silentLog } from "./ports/log.ts";
export { DeferredCall, deferCall } from "./runner/deferred.ts";
export { createDefinitionMemory, type DefinitionMemory } from "./runner/definition-memory.ts";
export type { ExecuteContext, Executor, PinnedDefinition, ToolCall, ToolProfile } from "./runner/executor.ts";
export type { RunOutcome, RunReport } from "./runner/run-report.ts";
export { createRunner, type Runner, type RunnerOptions } from "./runner/runner.ts";
export { createScrubber, type Scrubber, scrubLog } from "./secrets/scrubber.ts";
export type { SecretDeclaration, SecretSource, SecretUse } from "./secrets/secret-source.ts";
export { type ServeOptions, type Serving, serveTools } from "./service/serve-tools.ts";
export {
  type StopOptions,
  startToolService,
  type ToolService,
  type ToolServiceOptions,
} from "./service/tool-service.ts";
export {
  type DefinitionPlace,
  defineTool,
  definitionOf,
  type Tool,
  type ToolContext,
  type ToolInput,
} from "./tools/define-tool.ts";
export { createFunctionExecutor, type FunctionExecutorOptions } from "./tools/function-executor.ts";
export type { ArgumentsOf, ParametersSchema, PlainSchema } from "./tools/parameters.ts";
export { ToolError, type ToolErrorOptions } from "./tools/tool-error.ts";
export { PreparedResult, type ToolResultFields, toolResult } from "./tools/tool-result.ts";
