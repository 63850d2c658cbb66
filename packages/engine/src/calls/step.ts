// A step: what an agent asks for at once, and what became of it.

import type { CallAsk, CallOrigin } from "./plan-call.ts";
import type { ChainLink } from "./turn-chain.ts";

export interface StepRequest {
  readonly origin: Omit<CallOrigin, "headless">;
  readonly calls: readonly CallAsk[];
}

export interface DispatchedStep {
  readonly calls: readonly { readonly toolCallId: string; readonly callCardId: string; readonly toolName: string }[];
  readonly chain: ChainLink;
}
