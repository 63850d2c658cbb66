// A request of a tool service, over HTTP or NATS, and the identity of the service.
//   - The door (token or NATS subject) says who asks; nothing in a body or a header can change it.
//   - What the headers say about the call must agree with the call, or the request is refused.
//   - A service reaches only calls of its own actor in its own project; other calls are refused or do not exist for it.

import type { Actor, CallFacts, CallKey, Engine, LeasedCall } from "@toolplane/engine";
import { HEADERS, type HeaderMap, isFilled, type JsonReading, showName, ToolplaneError } from "@toolplane/protocol";
import { checkCallIdentity } from "@toolplane/protocol/agents";
import { z } from "zod";
import { type Answers, anyObject, type BodyOf } from "../http/answers.ts";
import type { BodyParts } from "../http/body-parts.ts";

export type ServiceEngine = Pick<
  Engine,
  "attach" | "calls" | "cards" | "definitions" | "projects" | "tools" | "emitParts"
>;

/** Who asks. */
export interface ServiceCaller {
  /** As a refusal names it: `this token`, `this user`. */
  readonly named: string;
  /** The targets whose actor `tool.<target>` it speaks for; undefined: an administrator, who speaks for every actor. */
  readonly targets: readonly string[] | undefined;
  /** As the audit writes it down. */
  readonly by: Actor;
}

export interface ServiceRequest<Body> {
  readonly engine: ServiceEngine;
  readonly caller: ServiceCaller;
  readonly projectId: string;
  /** Empty for the operations that concern no call. */
  readonly toolCallId: string;
  /** The protocol's headers, spelled as on the bus; a header that is left out is not checked. */
  readonly headers: HeaderMap;
  /** The lease of a card or a report, sent outside its body. */
  readonly leaseId?: string | undefined;
  /** The end of the door: it carries no answer that comes later. */
  readonly signal?: AbortSignal | undefined;
  readonly body: Body;
}

export interface ServiceAnswer {
  readonly status: 200 | 201 | 202;
  readonly body: unknown;
  /** An error on our side inside an answer that is otherwise a success, for the log. */
  readonly faults?: readonly ToolplaneError[] | undefined;
  /** Calls that were leased to the asker and go with the answer. The door gives back what it cannot carry. */
  readonly commands?: readonly LeasedCall[] | undefined;
}

export interface ServiceOperation {
  readonly body: z.ZodType;
  readonly answers: Answers;
  /** Larger bodies are refused unread. */
  readonly maxBytes: number;
  /** Text that the database cannot store is let through: the engine decides what to do with it. */
  readonly anyText?: boolean;
  /** A further look at the body before anything of it is dropped. */
  readonly settle?: JsonReading["settle"];
  /** Parts of the body that stand for themselves. */
  readonly parts?: BodyParts;
  run(request: ServiceRequest<unknown>): Promise<ServiceAnswer>;
}

/** An answer whose body is what the schema for its status says. */
export type AnswerIn<Given extends Answers> = ServiceAnswer & {
  readonly status: keyof Given;
  readonly body: { readonly [Status in keyof Given]: BodyOf<Given[Status]> }[keyof Given];
};

/** The same, with the types of its body and its answers. */
export interface TypedOperation<Schema extends z.ZodType, Given extends Answers>
  extends Omit<ServiceOperation, "body" | "answers" | "run"> {
  readonly body: Schema;
  readonly answers: Given;
  run(request: ServiceRequest<z.infer<Schema>>): Promise<AnswerIn<Given>>;
}

const MAX_BYTES = 2 * 1024 * 1024;

const hasControl = (text: string): boolean => {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) < 0x20) return true;
  return false;
};

/** An id or a name: short, and without characters that a database or a terminal would stumble over. */
export const plainText = z
  .string()
  .min(1)
  .max(128)
  .refine((text) => !hasControl(text) && text.isWellFormed(), "has a character that is not allowed");

export { anyObject };

export const refuseTarget = ({ named, targets = [] }: ServiceCaller, target: string): ToolplaneError =>
  new ToolplaneError("auth_failed", `${named} serves ${targets.join(", ")}, not ${target}`);

const mayServe = (caller: ServiceCaller, { actorId, target }: Pick<CallFacts, "actorId" | "target">): void => {
  if (caller.targets === undefined) return;
  // Compared by actor, not only by target: the project manager's own calls have a target too.
  if (!caller.targets.some((served) => actorId === `tool.${served}`))
    throw refuseTarget(caller, actorId === `tool.${target}` ? target : actorId);
};

export const keyOf = ({ projectId, toolCallId }: CallKey): CallKey => ({ projectId, toolCallId });

/** Checks that the caller may ask about this call, and that its headers are true. */
const checkAsker = <Call extends CallFacts>({ caller, headers }: ServiceRequest<unknown>, call: Call): Call => {
  mayServe(caller, call);
  checkCallIdentity(headers, call);
  return call;
};

/** An administrator who speaks for a service without holding the call; a service's own work is not an administrative act. */
export const personIn = ({ caller }: ServiceRequest<unknown>, leaseId: string | undefined): Actor | undefined =>
  caller.targets === undefined && !isFilled(leaseId) ? caller.by : undefined;

export const traceparentOf = ({ headers }: Pick<ServiceRequest<unknown>, "headers">): string | undefined =>
  headers[HEADERS.traceparent];

/** The call, if this caller may speak for its actor. */
export const factsFor = async (request: ServiceRequest<unknown>): Promise<CallFacts> => {
  const { engine, ...key } = request;
  // No id contains a NUL, and the database would refuse the whole statement.
  if (hasControl(key.toolCallId))
    throw new ToolplaneError("not_found", `there is no call ${showName(key.toolCallId)} in this project`);
  return checkAsker(request, await engine.calls.facts(keyOf(key)));
};

export const operation = <Schema extends z.ZodType, Given extends Answers>(
  given: Omit<TypedOperation<Schema, Given>, "maxBytes"> & { readonly maxBytes?: number },
): TypedOperation<Schema, Given> => ({ maxBytes: MAX_BYTES, ...given });

export const ok = <Body>(body: Body): { readonly status: 200; readonly body: Body } => ({ status: 200, body });
