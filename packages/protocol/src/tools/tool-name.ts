// Names of tools: `[A-Za-z0-9_-]{1,64}`, what model providers take as a function name.
// The names of the built-in tools belong to the engine, in every spelling a person or a model could mistake for them.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { isToken } from "../subjects/token.ts";
import { foldName } from "./fold-name.ts";

export const MAX_TOOL_NAME_LENGTH = 64;

/** Tools the project manager runs inside the engine. */
export const PMO_TOOL_NAMES = [
  "delegate_async",
  "launch_principal",
  "ask_expert",
  "fork_join",
  "provision_agent",
] as const;
export type PmoToolName = (typeof PMO_TOOL_NAMES)[number];

/** Built into the agent worker; they are never registered and never dispatched. */
export const SUBMIT_RESULT = "submit_result";
export const READ_CARD = "read_card";
const WORKER: ReadonlySet<string> = new Set([SUBMIT_RESULT, READ_CARD]);

const PMO: ReadonlySet<string> = new Set(PMO_TOOL_NAMES);

export const isPmoToolName = (name: string): boolean => PMO.has(foldName(name));

export const isReservedToolName = (name: string): boolean => isPmoToolName(name) || WORKER.has(foldName(name));

export const isToolName = (name: unknown): name is string => isToken(name) && name.length <= MAX_TOOL_NAME_LENGTH;

const refuse = (why: string): never => {
  throw new ToolplaneError("bad_request", `tool_name ${why}`, { detail: { path: "$.tool_name" } });
};

export interface ToolNameOptions {
  /** Only the engine sets this, for its own tools. */
  readonly internal?: boolean | undefined;
}

export const parseToolName = (value: unknown, { internal = false }: ToolNameOptions = {}): string => {
  if (typeof value !== "string") return refuse("must be a string");
  const name = value.trim();
  if (name === "") return refuse("must not be blank");
  // Checked before the character set, so that a full-width "submit_result" gets the error that explains it.
  if (isReservedToolName(name) && !(internal && PMO.has(name))) return refuse("is reserved for a built-in tool");
  return isToolName(name) ? name : refuse("must be 1 to 64 of the characters A-Z a-z 0-9 _ -");
};
