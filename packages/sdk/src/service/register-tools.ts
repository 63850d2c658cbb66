// Makes the tools known to the plane. A tool that is registered under the same hash is left alone; a new or changed one is sent;
// a name that belongs to another target is a conflict and is not taken over. Options that a person set stay: the plane merges
// them with what is sent, or lets the sent version wait for a person. When a newer version is in force, it stays: during a rollout
// each service runs the calls of its own version.

import {
  definitionHash,
  type HashText,
  isToolplaneError,
  type ToolDefinition,
  ToolplaneError,
} from "@toolplane/protocol";
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
  /** The definition in force, when it is this code's, with the options that a person added; else the one that was sent. */
  readonly definitionHash: string;
  /** The definition as this code has it. */
  readonly ownHash: string;
  readonly pin: "strict" | "record" | undefined;
  /** Whether a newer version is in force. */
  readonly isOlder?: boolean | undefined;
  /** Why the definition in force differs from the one that was sent, and what to do; undefined when they are the same. */
  readonly waits: string | undefined;
  /** What the plane warns of. */
  readonly warnings?: readonly string[] | undefined;
}

const waitsOf = (toolName: string, { inForce, pending, sent }: Registration): string | undefined => {
  if (sent?.isOlder === true)
    return `${toolName}: a newer version than this code's (version ${sent.version}) is in force and stays; to go back to this one run: toolplane tools accept ${toolName} --version ${sent.version}`;
  if (pending === undefined) return undefined;
  const todo = `to accept it run: toolplane tools accept ${toolName} --version ${pending.version}`;
  if (inForce === undefined) return `${toolName} is not registered: a person deleted it; ${todo}`;
  const why = pending.weakens.length === 0 ? "" : ` because it weakens ${pending.weakens.join(", ")}`;
  return `version ${pending.version} of ${toolName} waits for a person${why}; calls go on under the accepted one; ${todo}`;
};

/** A service has many tools, and the plane's sentence about a definition names only its options. */
const nameTool = (toolName: string, thrown: unknown): unknown => {
  if (!isToolplaneError(thrown) || thrown.code !== "bad_request" || thrown.message.startsWith(toolName)) return thrown;
  return new ToolplaneError(thrown.code, `${toolName}: ${thrown.message}`, { detail: thrown.detail, cause: thrown });
};

/** In the order given. A version that waits for a person is not a failure: the tool is served under the accepted one. */
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
      served.push({ toolName, sent: false, definitionHash: own, ownHash: own, pin: existing?.pin, waits: undefined });
      continue;
    }
    const registration = await gateway.register(definition, patience).catch((thrown: unknown) => {
      throw nameTool(toolName, thrown);
    });
    const { inForce, pending, warnings } = registration;
    const isOlder = registration.sent?.isOlder === true;
    const isOurs = pending === undefined && !isOlder;
    // The definition in force may hold a person's options and still be this code's, unless our version is not in force.
    const hash = isOurs ? (inForce?.definitionHash ?? own) : (registration.sent?.definitionHash ?? own);
    const sent = isOurs && (existing === undefined || inForce?.definitionHash !== existing.definitionHash);
    const waits = waitsOf(toolName, registration);
    served.push({ toolName, sent, definitionHash: hash, ownHash: own, pin: inForce?.pin, isOlder, waits, warnings });
  }
  return served;
};
