// Agents: what runs their turns (worker), what thinks for them (brains), and the tools with which they manage each other (pmo).

export type { Brain, BrainAnswer, BrainRequest } from "./brains/brain.ts";
export { createBrainSource } from "./brains/brain-source.ts";
export { createProfileCheck } from "./brains/check-profile.ts";
export { type BrainFunction, createFunctionBrain, type FunctionAnswer } from "./brains/function-brain.ts";
export {
  defineScript,
  parseScript,
} from "./brains/script/script.ts";
export { createScriptBrain } from "./brains/script/script-brain.ts";
export { parseScriptYaml } from "./brains/script/script-yaml.ts";
// pmo
export { createPmo, PMO_SERVICE, type Pmo, type PmoOptions } from "./pmo/pmo.ts";
// transcript
export { fence, fenceMark } from "./transcript/fence.ts";
// ui actions
export { createSubmitAction, UI_WORKER_TARGET } from "./ui-actions/submit-action.ts";
export { startUiActions } from "./ui-actions/ui-actions.ts";
// worker
export type { ModelCall, StepRun, TurnDone, TurnObserver } from "./worker/turn-observer.ts";
export { createWorker, type Worker, type WorkerOptions } from "./worker/worker.ts";
export type { WorkerEngine } from "./worker/worker-engine.ts";
