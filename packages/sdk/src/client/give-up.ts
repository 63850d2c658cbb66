// What becomes of a call that its caller or its client gives up: the caller aborted its signal, or the wait ended without an answer.
//   GU1. Giving up never makes a call: a request that was not sent is not sent any more, and a call that may have been made is looked for by its key.
//   GU2. `canceled` is said of a call that the plane has canceled, or that goes on because its caller did not ask for more. A cancellation
//        that was asked for and not confirmed is `outcome_unknown`, with the id and the key as far as they are known.
//   GU3. A wait that ends without an answer is `outcome_unknown` too, once a request may have arrived; an answer of the plane stays the answer.

import { type Backoff, backoff, ToolplaneError } from "@toolplane/protocol";
import { mayPass } from "../gateway/patience.ts";
import { givenUp } from "./api.ts";
import { HAND_OVER_MS, type Means } from "./means.ts";
import type { Body, CallAsk } from "./way.ts";

/** What the client knows of a call that it asked for. */
export interface Tried {
  callId: string | undefined;
  /** A request for it has left, and may have arrived. */
  isSent: boolean;
  /** A request for it has left and was not answered: the plane may have made the call. */
  isUnanswered: boolean;
}

type Wanted = Pick<CallAsk, "toolName" | "key" | "agentId">;

/** How long a call is looked for: longer where it shall be canceled, because a busy plane may have it in a queue. */
const FIND_MS = 1_000;
const FIND_TO_CANCEL_MS = 5_000;
/** A request that left before the abort may still be on its way. */
const FIND_PAUSE_MS: Backoff = { first: 20, longest: 320 };

/** The id, undefined when the plane has no such call; throws when the plane does not say. */
const findCall = async ({ way, clock, insist }: Means, wanted: Wanted, forMs: number): Promise<string | undefined> => {
  const untilMs = clock.now() + forMs;
  const late = new AbortController();
  const over = new AbortController();
  void clock.sleep(forMs, over.signal).then(() => late.abort());
  try {
    for (let tries = 1; ; tries += 1) {
      const callId = await insist(untilMs, late.signal, () => way.findCall(wanted, late.signal));
      const pause = backoff(FIND_PAUSE_MS, tries);
      if (callId !== undefined || clock.now() + pause >= untilMs) return callId;
      await clock.sleep(pause);
    }
  } finally {
    over.abort();
  }
};

const unknown = (what: string, { key }: Wanted, callId?: string, cause?: unknown): ToolplaneError =>
  new ToolplaneError("outcome_unknown", `the request was given up, and ${what}`, {
    callId,
    cause,
    detail: { idempotency_key: key },
  });

const cancelCall = async ({ way, clock, insist }: Means, wanted: Wanted, callId: string): Promise<ToolplaneError> => {
  let answer: Body;
  try {
    answer = await insist(clock.now() + HAND_OVER_MS, undefined, () => way.cancelCall(callId, "its caller gave up"));
  } catch (cause) {
    return unknown(`the plane did not confirm that call ${callId} is canceled`, wanted, callId, cause);
  }
  const { canceled, status } = answer;
  if (canceled === true) return givenUp(undefined, callId);
  const what = `the request was given up; call ${callId} had ended before as ${String(status)}`;
  return new ToolplaneError("canceled", what, { callId, detail: { status } });
};

/** The error for a caller that aborted. */
export const planGivenUp = async (
  means: Means,
  wanted: Wanted,
  { callId: known, isSent }: Tried,
  { cancel, cause }: { readonly cancel: boolean; readonly cause: unknown },
): Promise<ToolplaneError> => {
  if (!isSent) return givenUp(cause);
  if (!cancel) return givenUp(cause, known ?? (await findCall(means, wanted, FIND_MS).catch(() => undefined)));
  let callId = known;
  try {
    callId ??= await findCall(means, wanted, FIND_TO_CANCEL_MS);
  } catch (error) {
    return unknown("the plane did not say whether there is a call with its key", wanted, undefined, error);
  }
  if (callId !== undefined) return cancelCall(means, wanted, callId);
  return unknown("the plane has no call with its key: it was not made, unless the request is still on its way", wanted);
};

/** The error for a caller whose wait ended with `error`. The key is in it: the caller does not know one that was made up. */
export const planUnanswered = (
  error: ToolplaneError,
  { key }: Wanted,
  { callId, isUnanswered }: Tried,
): ToolplaneError => {
  if (!mayPass(error)) return error;
  const { code, message, detail } = error;
  if (callId === undefined && !isUnanswered)
    return new ToolplaneError(code, message, { cause: error, detail: { ...detail, idempotency_key: key } });
  const what =
    callId === undefined
      ? "the call was sent and not answered: it may have been made and may be running"
      : `call ${callId} was made and may be running: its end was not heard of`;
  const todo = `call again with the key ${key}: it is the same call`;
  return new ToolplaneError("outcome_unknown", `${what} (${message})`, {
    callId,
    cause: error,
    detail: { idempotency_key: key, todo },
  });
};
