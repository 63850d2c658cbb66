// What a caller gives to the functions of a client, checked before anything is sent. A mistake is a `bad_request` that names it, like one
// that the plane finds: a program handles errors of one kind.

import { badRequest, showName, ToolplaneError, UsageError } from "@toolplane/protocol";
import { refuseUnknownKeys } from "../tools/refuse-keys.ts";

/** Runs a check; its `UsageError` becomes a typed error. */
export const typed = <T>(check: () => T): T => {
  try {
    return check();
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause;
    throw new ToolplaneError("bad_request", cause.message, { cause });
  }
};

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

export const checkGiven = (taker: keyof typeof TAKEN, given: object): void =>
  typed(() => refuseUnknownKeys(given, { taker, keys: TAKEN[taker] }));

/** One of the calls that `callMany` is given. */
export const checkManyCall = (given: object): void =>
  typed(() => refuseUnknownKeys(given, { taker: "a call of callMany", keys: ["tool", "args", ...CALL] }));

const DEFAULT_WAIT_SECONDS = 30;

export const waitMsOf = ({ wait = DEFAULT_WAIT_SECONDS }: { readonly wait?: number | undefined }): number => {
  if (typeof wait === "number" && wait >= 0) return wait * 1000;
  throw badRequest(`wait is a number of seconds, 0 or more, not ${showName(String(wait))}`);
};

/** As the API takes a time. */
export const timeOf = (at: Date | undefined): string | undefined => {
  if (at === undefined) return undefined;
  if (at instanceof Date && !Number.isNaN(at.getTime())) return at.toISOString();
  throw badRequest(`the option at must be a valid Date, not ${showName(String(at))}`);
};

/** Ids become parts of a path: an empty one, or a step in a path, would ask another route. */
export const idOf = (what: "call" | "turn", id: string): string => {
  if (typeof id === "string" && id !== "" && id !== "." && id !== "..") return id;
  throw badRequest(
    `the id of a ${what} is a text as the plane gave it, not ${showName(id === "" ? "an empty one" : String(id))}`,
  );
};
