// @toolplane/protocol/registry: what may be registered - tools, projects, agents, profiles - and the rules for it.

export { type BootstrapOptions, bootstrapTools, FORK_JOIN_DEADLINE_SECONDS } from "./registry/bootstrap-tools.ts";
export {
  type BoxInheritanceInput,
  type DelegationInput,
  type GuardDecision,
  planBoxInheritance,
  planDelegation,
  policyAllows,
} from "./registry/delegation.ts";
export {
  type DelegationPolicy,
  delegationPolicySchema,
  llmConfigSchema,
  mayUseTool,
  type Profile,
  parseProfile,
  parseProfileCard,
  profileKey,
} from "./registry/profile.ts";
export {
  PROJECT_STATUSES,
  type ProjectCreate,
  type ProjectPatch,
  type ProjectStatus,
  parseProjectCreate,
  parseProjectPatch,
} from "./registry/project.ts";
export {
  DEFAULT_FORK_JOIN_TASKS,
  forkJoinTasksOf,
  MOST_FORK_JOIN_TASKS,
  type ProjectLimits,
  projectLimitsSchema,
  resolveLimits,
} from "./registry/project-limits.ts";
export {
  type AgentUpload,
  type GuardedField,
  parseAgentUpload,
  planDeactivation,
  planRosterUpsert,
  ROSTER_STATUSES,
  type RosterAgent,
  type RosterEntry,
  type RosterPlan,
  type RosterStatus,
  rosterAgentSchema,
} from "./registry/roster.ts";
export { type SessionOwner, sessionKey } from "./registry/session-key.ts";
export { applyGuards, type GuardedDefinition } from "./registry/tool-guards.ts";
export {
  planToolUpsert,
  type SourcedDefinition,
  type StoredTool,
  type ToolUpsertPlan,
} from "./registry/tool-upsert.ts";
export { type DefinitionChange, definitionChanges } from "./tools/definition-changes.ts";
export { type AllowEnv, isEnvName, isOwnEnvName } from "./tools/env-name.ts";
export { foldName } from "./tools/fold-name.ts";
export { codePointName, findHiddenCharacter, type HiddenCharacter } from "./tools/hidden-characters.ts";
export type { CompileSchema, SchemaIssue, ValidateValue } from "./tools/parameters-schema.ts";
export {
  argumentsSchema,
  compileArguments,
  type ParseToolDefinitionOptions,
  parseToolDefinition,
} from "./tools/parse-definition.ts";
export { type SchemaPath, type SchemaVisitor, walkSchema } from "./tools/schema-walk.ts";
export { commandSubject, isExternalTool } from "./tools/target-subject.ts";
export {
  isPmoToolName,
  isReservedToolName,
  isToolName,
  MAX_TOOL_NAME_LENGTH,
  PMO_TOOL_NAMES,
  type PmoToolName,
  parseToolName,
  SUBMIT_RESULT,
} from "./tools/tool-name.ts";
