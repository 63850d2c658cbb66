// Refusals as MCP says them. What a model can put right (arguments, limits, a key that was used) is a tool error with advice; what
// its client must put right (an unknown tool, a token, a server that is away) is an error of the protocol.

import { MissingRequiredClientCapabilityError, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { understandError } from "@toolplane/protocol";
import { TASKS_EXTENSION } from "./mcp-ask.ts";
import { type McpToolResult, planFailure } from "./mcp-content.ts";

export const invalidParams = (message: string, data?: unknown): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);

export const internalError = (message: string, data?: unknown): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InternalError, message, data);

/** The client must declare these before it can be served. */
export const capabilitiesNeeded = (requiredCapabilities: Record<string, object>, message?: string): ProtocolError =>
  new MissingRequiredClientCapabilityError({ requiredCapabilities }, message);

export const tasksNeeded = (): ProtocolError => capabilitiesNeeded({ extensions: { [TASKS_EXTENSION]: {} } });

/** The refusal of a call that was not made. */
export const refuseCall = (error: unknown): McpToolResult => {
  if (error instanceof ProtocolError) throw error;
  const known = understandError(error);
  const { code, message, detail, retryable } = known.toWire();
  if (code === "not_found") throw invalidParams(message, { code });
  // A breaker is a limit: the model reads when the call may be made.
  if (code === "breaker_open") return planFailure({ code, message, detail, retryable });
  if (known.http >= 500 || code === "unauthorized") throw internalError(message, { code, retryable });
  return planFailure({ code, message, detail, retryable });
};
