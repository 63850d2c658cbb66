// What a caller gives to the functions of a client, checked before anything is sent. A mistake is a `bad_request` that names it, like one
// that the plane finds: a program handles errors of one kind.

import { badRequest, showName, ToolplaneError, UsageError } from "@toolplane/protocol";
import { type KnownKeys, refuseUnknownKeys } from "../tools/refuse-keys.ts";

/** A mistake of the program as callers get it; any other error as it is. */
export const asBadRequest = (error: unknown): unknown =>
  error instanceof UsageError ? new ToolplaneError("bad_request", error.message, { cause: error }) : error;

/** Runs a check; its `UsageError` becomes a typed error. */
export const typed = <T>(check: () => T): T => {
  try {
    return check();
  } catch (error) {
    throw asBadRequest(error);
  }
};

export const refuseKeys = (given: object, known: KnownKeys): void => typed(() => refuseUnknownKeys(given, known));

const WAIT = ["wait", "signal"] as const;
const CALL = ["key", "agent", "at"] as const;

/** The options that each function takes. */
const TAKEN = {
  call: [...CALL, ...WAIT, "cancelOnAbort"],
  callMany: [...WAIT, "cancelOnAbort"],
  start: [...CALL, "signal", "cancelOnAbort"],
  wait: WAIT,
  read: WAIT,
  run: ["key", ...WAIT, "contextBox", "continue", "budget"],
  events: ["after", "signal"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A text as it can stand in a sentence, in quotes: "5" is no 5. */
const shown = (value: unknown): string => {
  const name = showName(String(value));
  return typeof value === "string" && !name.startsWith('"') ? `"${name}"` : name;
};

/** An empty key would be the key of every call that has an empty one. */
const checkKey = ({ key }: { readonly key?: unknown }): void => {
  if (key === undefined || (typeof key === "string" && key !== "")) return;
  throw badRequest(`the key must be a text that is not empty, not ${shown(key)}; without one, a key is made up`);
};

export const checkGiven = (taker: keyof typeof TAKEN, given: object): void => {
  refuseKeys(given, { taker, keys: TAKEN[taker] });
  checkKey(given);
};

/** One of the calls that `callMany` is given. */
export const checkManyCall = (given: object): void => {
  refuseKeys(given, { taker: "a call of callMany", keys: ["tool", "args", ...CALL] });
  checkKey(given);
};

export const toolOf = (name: string): string => {
  if (typeof name === "string" && name !== "") return name;
  throw badRequest(`the name of a tool must be a text that is not empty, not ${shown(name)}`);
};

const DEFAULT_WAIT_SECONDS = 30;

export const waitMsOf = ({ wait = DEFAULT_WAIT_SECONDS }: { readonly wait?: number | undefined }): number => {
  if (typeof wait === "number" && wait >= 0) return wait * 1000;
  throw badRequest(`wait is a number of seconds, 0 or more, not ${shown(wait)}`);
};

/** As the API takes a time. */
export const timeOf = (at: Date | undefined): string | undefined => {
  if (at === undefined) return undefined;
  if (at instanceof Date && !Number.isNaN(at.getTime())) return at.toISOString();
  throw badRequest(`the option at must be a valid Date, not ${shown(at)}`);
};

/** Ids become parts of a path: an empty one, or a step in a path, would ask another route. */
export const idOf = (id: string): string => {
  if (typeof id === "string" && id !== "" && id !== "." && id !== "..") return id;
  throw badRequest(`the id of a call is a text as the plane gave it, not ${shown(id)}`);
};
