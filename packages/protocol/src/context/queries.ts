// What a context must have.

import { violation } from "../errors/toolplane-error.ts";
import type { CGContext } from "./context.ts";

const required = (value: string | null, name: string): string => {
  if (value === null || value === "") throw violation(`context has no ${name}`);
  return value;
};

export const requireTurn = (context: CGContext): string => required(context.agentTurnId, "agent_turn_id");
export const requireToolCall = (context: CGContext): string => required(context.toolCallId, "tool_call_id");
