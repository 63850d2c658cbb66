// Agents: what runs their turns (worker), what thinks for them (brains), and the tools with which they manage each other (pmo).

export type { AiBrainOptions } from "./brains/ai/ai-brain.ts";
export type { BrainSecret, KeyUse } from "./brains/ai/read-key.ts";
export type { Brain, BrainAnswer, BrainPiece, BrainRequest, BrainSource, BrainToolCall } from "./brains/brain.ts";
export { type BrainSourceOptions, createBrainSource } from "./brains/brain-source.ts";
export { createEndpointCheck } from "./brains/check-endpoint.ts";
export { type BrainFunction, createFunctionBrain, type FunctionAnswer } from "./brains/function-brain.ts";
export {
  defineScript,
  parseScript,
  type Script,
  type ScriptCall,
  type ScriptCase,
  type ScriptSource,
  type ScriptStep,
} from "./brains/script/script.ts";
export { createScriptBrain } from "./brains/script/script-brain.ts";
export type { ScriptResult, ScriptView } from "./brains/script/script-view.ts";
export { parseScriptYaml } from "./brains/script/script-yaml.ts";
// pmo
export type { PmoEngine } from "./pmo/delegate.ts";
export { createPmo, type Listening, PMO_SERVICE, type Pmo, type PmoOptions } from "./pmo/pmo.ts";
// transcript
export { cardFullText } from "./transcript/card-text.ts";
export { fence, fenceMark, unfence } from "./transcript/fence.ts";
export { orderContext } from "./transcript/order-context.ts";
export { MAX_READ_CHARS, planReadCard, type ReadCardResult, readCardSpec } from "./transcript/read-card.ts";
export { READ_CARD } from "./transcript/read-card-name.ts";
export {
  mustEndWithText,
  NOTE_PREFIX,
  planStepBudget,
  requiredFields,
  type StepBudget,
} from "./transcript/step-notes.ts";
export { type PromptValues, renderSystemPrompt, type SystemPromptInput } from "./transcript/system-prompt.ts";
export { type NamedToolCall, planToolCalls, thoughtToolCalls } from "./transcript/tool-calls.ts";
export {
  buildTranscript,
  TRANSCRIPT_LIMITS,
  type Transcript,
  type TranscriptInput,
  type TranscriptLimits,
} from "./transcript/transcript.ts";
export { planTrust, type ToolTrust, type TrustInput, type TrustSource, trustFrom } from "./transcript/trust.ts";
// ui actions
export {
  type ActionAnswer,
  type AskedAction,
  createSubmitAction,
  type SubmitActionMeans,
  UI_WORKER_TARGET,
} from "./ui-actions/submit-action.ts";
export { type ListeningForActions, startUiActions, type UiActionsOptions } from "./ui-actions/ui-actions.ts";
// worker
export { DEFAULT_LIMITS, type TurnLimits } from "./worker/limits.ts";
export { resolveTiming, type TimingPlan, type TimingSwitches } from "./worker/timing.ts";
export { createWorker, type StopOptions, type Worker, type WorkerOptions, type WorkerStats } from "./worker/worker.ts";
export type { WorkerEngine } from "./worker/worker-engine.ts";
