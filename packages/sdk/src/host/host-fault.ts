// Every failure a host answers with, as the `error` of a response. What plugin code threw is named by its class and its
// message; faults of the protocol have fixed words.

import { ToolplaneError, understandError } from "@toolplane/protocol";
import { HOST_ERROR_TYPES } from "@toolplane/protocol/host";
import { NO_STACK, showThrown, stackWithCauses } from "../tools/thrown-value.ts";

/** Error types of this host in addition to the protocol's. */
export const FAULT_TYPES = {
  ...HOST_ERROR_TYPES,
  /** The plugin gave something that JSON cannot say, or that is too large for one line. */
  notJson: "NotJson",
  /** The plugin gave JSON of another shape than the method has. */
  result: "InvalidResult",
  /** The call failed after its time was over, whatever its code threw then. */
  deadline: "DeadlineExceeded",
  /** The plugin threw a text, an object or nothing. */
  notAnError: "NotAnError",
  overloaded: "Overloaded",
  shutdown: "ShuttingDown",
} as const;

export interface Fault {
  readonly type: string;
  readonly detail: string;
  readonly stack?: string;
}

/** Thrown by the host's own code on the way of a request; its type is what is answered. */
export class HostFault extends Error {
  readonly type: string;

  constructor(type: string, detail: string) {
    super(detail);
    this.type = type;
  }
}

/** A message or a stack is for a person; a longer text would not help and would have to be stored. */
const MAX_TEXT = 16_384;

const cut = (text: string): string => text.slice(0, MAX_TEXT).toWellFormed();

const classOf = (error: Error): string => {
  const name: unknown = (error as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === "string" && name !== "" ? name : "Error";
};

/** `fetch failed` alone says nothing: a system error inside brings its words. */
const wordsOf = (thrown: Error): string => {
  const { message } = understandError(thrown, { keepMessage: true });
  return message.startsWith(thrown.message) ? message : String(thrown.message);
};

/** Reading a foreign error may itself throw; then it is an error all the same. */
export const describeThrown = (thrown: unknown): Fault => {
  if (thrown instanceof HostFault) return { type: thrown.type, detail: cut(thrown.message) };
  try {
    if (!(thrown instanceof Error)) {
      const detail = cut(showThrown(thrown));
      return { type: FAULT_TYPES.notAnError, detail, stack: cut(`${detail}\n${NO_STACK}`) };
    }
    const fault = { type: cut(classOf(thrown)), detail: cut(wordsOf(thrown)) };
    return typeof thrown.stack === "string" ? { ...fault, stack: cut(stackWithCauses(thrown)) } : fault;
  } catch {
    return { type: "Error", detail: "an error that cannot be read" };
  }
};

/** A request that was refused. What the protocol refused says in its detail what to answer, and to whom. */
export const describeRefusal = (error: unknown): { readonly id: string | null; readonly fault: Fault } => {
  if (error instanceof HostFault) return { id: null, fault: describeThrown(error) };
  if (!(error instanceof ToolplaneError)) return { id: null, fault: { type: FAULT_TYPES.parse, detail: "unreadable" } };
  const { type, id } = (error.detail ?? {}) as { type?: unknown; id?: unknown };
  return {
    id: typeof id === "string" ? id : null,
    fault: { type: typeof type === "string" ? type : FAULT_TYPES.parse, detail: error.message },
  };
};
