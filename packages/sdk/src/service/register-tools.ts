// Makes the plane know the tools: what is registered under the same hash is left alone, what is new or changed is sent, and a
// name that belongs to another target is a conflict rather than a takeover. What a person decided about a tool stays: the
// plane puts it beside what is sent, or lets what is sent wait.

import { definitionHash, type HashText, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import type { Patience, RegisteredTool, Registration, ToolGateway } from "../gateway/gateway.ts";

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

/** How one tool is served after its registration. */
export interface ServedTool {
  readonly toolName: string;
  readonly sent: boolean;
  /** The definition the code here is that of, as far as a pinned call is concerned. */
  readonly definitionHash: string;
  readonly pin: "strict" | "record" | undefined;
  /** Why what is in force is not what was sent, and what to do; undefined when it is. */
  readonly waits: string | undefined;
}

const waitsOf = (toolName: string, { inForce, pending }: Registration): string | undefined => {
  if (pending === undefined) return undefined;
  const todo = `to accept it run: toolplane tools accept ${toolName} --version ${pending.version}`;
  if (inForce === undefined) return `${toolName} is not registered: a person deleted it; ${todo}`;
  const why = pending.weakens.length === 0 ? "" : ` because it weakens ${pending.weakens.join(", ")}`;
  return `version ${pending.version} of ${toolName} waits for a person${why}; calls go on under the accepted one; ${todo}`;
};

/** In the order given. A version that waits for a person is no failure: the tool is served under the accepted one. */
export const registerTools = async (
  definitions: readonly ToolDefinition[],
  gateway: Pick<ToolGateway, "findTool" | "register">,
  sha256: HashText,
  patience: Patience,
): Promise<readonly ServedTool[]> => {
  const served: ServedTool[] = [];
  for (const definition of definitions) {
    const toolName = definition.tool_name;
    const own = definitionHash(definition, sha256);
    const existing = await gateway.findTool(toolName, patience);
    const plan = planRegistration(existing, definition, own);
    if (plan.action === "refuse") throw plan.error;
    if (plan.action === "keep") {
      served.push({ toolName, sent: false, definitionHash: own, pin: existing?.pin, waits: undefined });
      continue;
    }
    const registration = await gateway.register(definition, patience);
    const { inForce, pending } = registration;
    // What is in force may have a person's options beside ours and is still this code, unless ours was not taken.
    const hash = pending === undefined ? (inForce?.definitionHash ?? own) : own;
    const sent =
      pending === undefined && (existing === undefined || inForce?.definitionHash !== existing.definitionHash);
    served.push({ toolName, sent, definitionHash: hash, pin: inForce?.pin, waits: waitsOf(toolName, registration) });
  }
  return served;
};
