// The brain port: what decides an agent's next step. A brain sees one request and gives one answer; it keeps no state
// between steps, because the next step may run in another process. It never touches the engine.
//   BR1. When the signal aborts, `think` rejects soon; what the brain had said is dropped.
//   BR2. `onPiece` may be called any number of times before the answer; pieces are shown, never stored.
//   BR3. A rejection is final for the step: a brain retries by itself what may pass. The rejection is a ToolplaneError whose
//       message may be stored: it holds no key, no prompt and no response body.

import type { JsonObject } from "@toolplane/protocol";
import type { ModelMessage, ModelToolSpec } from "@toolplane/protocol/agents";
import type { Profile } from "@toolplane/protocol/registry";

export interface BrainRequest {
  readonly projectId: string;
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly stepId: string;
  /** 1 for the first step of the turn. */
  readonly stepNumber: number;
  readonly profile: Profile;
  readonly system: string;
  /** The transcript, oldest first, without the system prompt. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelToolSpec[];
  readonly signal: AbortSignal;
  readonly onPiece: (piece: BrainPiece) => void;
}

export interface BrainPiece {
  readonly kind: "content" | "reasoning" | "tool_call";
  readonly text: string;
}

export interface BrainToolCall {
  /** The provider's own id, if it gave one; an alias, never a key. */
  readonly id?: string | undefined;
  readonly name: string;
  /** An object, or JSON text as the model wrote it. */
  readonly arguments: unknown;
}

export interface BrainAnswer {
  readonly text: string;
  readonly reasoning?: string | undefined;
  readonly toolCalls: readonly BrainToolCall[];
  /** Token counts as the provider gave them. */
  readonly usage?: JsonObject | undefined;
  /** In the provider's currency, when known. */
  readonly cost?: number | undefined;
  readonly model?: string | undefined;
}

export interface Brain {
  think(request: BrainRequest): Promise<BrainAnswer>;
}

/** Chooses the brain of a profile (by its `llm_config`); rejects with a ToolplaneError that says what is missing. */
export type BrainSource = (profile: Profile) => Promise<Brain>;
