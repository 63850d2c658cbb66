// @toolplane/protocol/registry: what may be registered - tools, projects, agents, profiles - and the rules for it.

export { bootstrapTools, FORK_JOIN_DEADLINE_SECONDS } from "./registry/bootstrap-tools.ts";
export {
  planBoxInheritance,
  planDelegation,
  policyAllows,
} from "./registry/delegation.ts";
export { checkCeiling, planFileLimits, type StoredLimits } from "./registry/limit-ceiling.ts";
export {
  llmConfigSchema,
  mayUseTool,
  type Profile,
  parseProfile,
  parseProfileCard,
  profileKey,
  profileUploadSchema,
} from "./registry/profile.ts";
export {
  type ProjectStatus,
  parseProjectCreate,
  parseProjectPatch,
  projectCreateSchema,
  projectPatchSchema,
} from "./registry/project.ts";
export {
  DEFAULT_FORK_JOIN_TASKS,
  type FileLimits,
  fileLimitsSchema,
  forkJoinTasksOf,
  type ProjectLimits,
  projectLimitsSchema,
  type ResolvedLimits,
  resolveLimits,
} from "./registry/project-limits.ts";
export {
  type AgentUpload,
  agentUploadSchema,
  parseAgentUpload,
  planDeactivation,
  planRosterUpsert,
  type RosterAgent,
  type RosterEntry,
  type RosterStatus,
} from "./registry/roster.ts";
export { sessionKey } from "./registry/session-key.ts";
export { applyGuards, type GuardedDefinition } from "./registry/tool-guards.ts";
export {
  planToolUpsert,
  type StoredTool,
} from "./registry/tool-upsert.ts";
export { readTurnBudget, type TurnBudget, turnBudgetSchema } from "./registry/turn-budget.ts";
export { keepDefinition } from "./tools/closed-keys.ts";
export { type DefinitionChange, definitionChanges } from "./tools/definition-changes.ts";
export { type AllowEnv, isEnvName, isOwnEnvName } from "./tools/env-name.ts";
export { findHiddenCharacter } from "./tools/hidden-characters.ts";
export { toolLimitsSchema } from "./tools/limits.ts";
export type { CompileSchema, SchemaIssue, ValidateValue } from "./tools/parameters-schema.ts";
export {
  argumentsSchema,
  compileArguments,
  parseToolDefinition,
  toolUploadSchema,
} from "./tools/parse-definition.ts";
export {
  malformedProvision,
  type ProvisionAction,
} from "./tools/pmo-arguments.ts";
export { type SchemaPath, walkSchema } from "./tools/schema-walk.ts";
export { commandSubject, isExternalTool, toolSubjectTemplate } from "./tools/target-subject.ts";
export { parseTemplate, renderTemplate } from "./tools/template.ts";
export {
  isToolName,
  PMO_TOOL_NAMES,
  type PmoToolName,
  parseToolName,
  SUBMIT_RESULT,
} from "./tools/tool-name.ts";
