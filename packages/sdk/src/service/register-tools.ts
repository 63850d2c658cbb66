// Makes the plane know the tools: what is registered under the same hash is left alone, what is new or changed is sent, and a
// name that belongs to another target is a conflict rather than a takeover.

import { definitionHash, type HashText, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import type { Patience, RegisteredTool, ToolGateway } from "../gateway/gateway.ts";

export type RegistrationPlan =
  | { readonly action: "keep" }
  | { readonly action: "send" }
  | { readonly action: "refuse"; readonly error: ToolplaneError };

const TARGET_TOKEN = 6;
const targetOf = (subject: string): string => subject.split(".")[TARGET_TOKEN] ?? "";

export const planRegistration = (
  existing: RegisteredTool | undefined,
  definition: ToolDefinition,
  hash: string,
): RegistrationPlan => {
  if (existing === undefined) return { action: "send" };
  if (existing.definitionHash === hash) return { action: "keep" };
  const owner = targetOf(existing.targetSubject);
  if (owner !== "" && owner !== targetOf(definition.target_subject)) {
    const message = `the tool ${definition.tool_name} belongs to target ${owner}; choose another name or serve it under that target`;
    return { action: "refuse", error: new ToolplaneError("conflict", message, { detail: { target: owner } }) };
  }
  return { action: "send" };
};

/** The names that were sent, in order. */
export const registerTools = async (
  definitions: readonly ToolDefinition[],
  gateway: Pick<ToolGateway, "findTool" | "register">,
  sha256: HashText,
  patience: Patience,
): Promise<readonly string[]> => {
  const sent: string[] = [];
  for (const definition of definitions) {
    const existing = await gateway.findTool(definition.tool_name, patience);
    const plan = planRegistration(existing, definition, definitionHash(definition, sha256));
    if (plan.action === "refuse") throw plan.error;
    if (plan.action === "keep") continue;
    await gateway.register(definition, patience);
    sent.push(definition.tool_name);
  }
  return sent;
};
