// The callers' client: one interface, whichever way leads to the plane.
//   CP1. Every call has a key, made once. A request whose answer was lost is sent again with it, so the tool runs once.
//   CP2. An error that may pass (by the error table) is retried until the wait is over; every other error is the answer.
//   CP3. A settled call is an answer, also a failed one: the client never repeats a call because its tool failed.
//   CP4. An aborted signal ends the wait. The call goes on unless its caller asked for a cancellation (give-up.ts).
//   CP5. What a caller gives is checked before anything is sent (given-options.ts).

import { type JsonValue, ToolplaneError, understandError } from "@toolplane/protocol";
import { givenUp } from "./api.ts";
import { callIdOf, isOver, resultOf } from "./call-outcome.ts";
import { followEvents, type PlaneEvent } from "./events.ts";
import { planGivenUp, planUnanswered, type Tried } from "./give-up.ts";
import { checkGiven, checkManyCall, idOf, timeOf, toolOf, waitMsOf } from "./given-options.ts";
import { askUntilOver, createMeans, HAND_OVER_MS, type Means, type PlaneOptions } from "./means.ts";
import { refuseLoss } from "./plain-arguments.ts";
import { isNobodyThere, StrangeAnswer } from "./strange-answer.ts";
import { listForModels, type ToolList } from "./tool-list.ts";
import { type RunningTurn, type RunOptions, runTurn } from "./turn.ts";
import type { Body, CallAsk } from "./way.ts";

export interface WaitOptions {
  /** Seconds to wait for the result; 30 unless given. The call goes on after that: `still_running` has its id. */
  readonly wait?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CallOptions extends WaitOptions {
  /** The idempotency key; the same key with the same arguments is the same call. Made up unless given. */
  readonly key?: string | undefined;
  /** In whose name the call is made. */
  readonly agent?: string | undefined;
  /** The call starts at this time at the earliest. */
  readonly at?: Date | undefined;
  /**
   * An aborted signal also cancels the call on the plane. The promise then rejects with `canceled` after the plane has confirmed it, and
   * with `outcome_unknown` when it did not.
   */
  readonly cancelOnAbort?: boolean | undefined;
}

export interface ManyCall extends Pick<CallOptions, "key" | "agent" | "at"> {
  readonly tool: string;
  readonly args?: unknown;
}

/** The outcome of one of many calls, with its index in the list that was given. */
export type Outcome =
  | { readonly index: number; readonly result: JsonValue; readonly error?: undefined }
  | { readonly index: number; readonly result?: undefined; readonly error: ToolplaneError };

export interface EventOptions {
  /** Begins after this event; without it, with the next event that happens. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Plane extends AsyncDisposable {
  readonly project: string;
  /** Makes a durable call and gives its result; throws a `ToolplaneError` when the call did not succeed. */
  call<T = JsonValue>(tool: string, args?: unknown, options?: CallOptions): Promise<T>;
  /** Makes many calls; their outcomes come as they settle. */
  callMany(
    calls: Iterable<ManyCall>,
    options?: WaitOptions & Pick<CallOptions, "cancelOnAbort">,
  ): AsyncIterable<Outcome>;
  /** Makes a call without waiting for it: its `tool_call_id` and `status`, as the API answers. */
  start(tool: string, args?: unknown, options?: Omit<CallOptions, "wait">): Promise<Body>;
  /** The result of a call that was made before. */
  wait<T = JsonValue>(callId: string, options?: WaitOptions): Promise<T>;
  /** A call as the API shows it, after a wait if one is given. */
  read(callId: string, options?: WaitOptions): Promise<Body>;
  cancel(callId: string, reason?: string): Promise<{ readonly canceled: boolean; readonly status: string }>;
  /** Where a call is and what it waits for. */
  why(callId: string): Promise<Body>;
  /** Starts a turn of an agent: its steps and its text as they come, and its deliverable. */
  run(agent: string, instruction: string, options?: RunOptions): RunningTurn;
  /** The events of the project; after a lost connection it continues where it was. */
  events(options?: EventOptions): AsyncIterable<PlaneEvent>;
  /** The project's tools, in the shapes that models take. */
  tools(): Promise<ToolList>;
  close(): Promise<void>;
}

const askOf = (
  means: Means,
  tool: string,
  args: unknown,
  { key, agent, at }: CallOptions,
): Omit<CallAsk, "untilMs"> => {
  refuseLoss(args);
  return {
    toolName: toolOf(tool),
    arguments: args,
    key: key ?? means.makeKey(),
    agentId: agent,
    notBefore: timeOf(at),
  };
};

/** The connection was lost, or something before the server answered in its place. What cannot be understood is said as it is. */
const isUnanswered = (error: unknown): boolean =>
  understandError(error).code === "upstream_unavailable" && !(error instanceof StrangeAnswer);

/** The error of an operation on a call that its caller named, with that name. */
const about = async <T>(callId: string, operation: Promise<T>): Promise<T> => {
  try {
    return await operation;
  } catch (cause) {
    const { code, message, detail } = understandError(cause);
    throw new ToolplaneError(code, message, { detail, cause, callId });
  }
};

export const createPlane = (options: PlaneOptions): Plane => {
  const means = createMeans(options);
  const { way, clock, insist } = means;
  const soon = (): number => clock.now() + HAND_OVER_MS;

  const make = (
    ask: Omit<CallAsk, "untilMs">,
    waitMs: number,
    signal: AbortSignal | undefined,
    tried: Tried,
  ): Promise<Body> => {
    const once = async (untilMs: number): Promise<Body> => {
      const { isSent } = tried;
      let isSentNow = false;
      const sent = (): void => {
        isSentNow = true;
        tried.isSent = true;
      };
      try {
        const body = await way.makeCall({ ...ask, untilMs }, signal, sent);
        tried.callId = callIdOf(body);
        return body;
      } catch (error) {
        if (isNobodyThere(error)) tried.isSent = isSent;
        else if (isSentNow && isUnanswered(error)) tried.isUnanswered = true;
        throw error;
      }
    };
    return askUntilOver(means, waitMs, signal, once, isOver);
  };

  /** The call as the plane answers; an abort ends in what became of it. */
  const made = async (tool: string, args: unknown, given: CallOptions, waitMs: number): Promise<Body> => {
    const { signal, cancelOnAbort: cancel = false } = given;
    const ask = askOf(means, tool, args, given);
    const tried: Tried = { callId: undefined, isSent: false, isUnanswered: false };
    // Nothing was sent, so there is nothing to cancel.
    if (signal?.aborted === true) throw givenUp();
    try {
      return await make(ask, waitMs, signal, tried);
    } catch (cause) {
      if (!signal?.aborted) throw planUnanswered(understandError(cause), ask, tried);
      throw await planGivenUp(means, ask, tried, { cancel, cause });
    }
  };

  const settled = async (tool: string, args: unknown, given: CallOptions): Promise<JsonValue> =>
    resultOf(await made(tool, args, given, waitMsOf(given)));

  const close = (): Promise<void> => {
    means.close();
    return way.close();
  };

  const read = async (callId: string, waitMs: number, signal?: AbortSignal): Promise<Body> => {
    const id = idOf(callId);
    const once = async (untilMs: number): Promise<Body> => {
      const body = await way.readCall(id, untilMs - clock.now(), signal);
      callIdOf(body);
      return body;
    };
    return about(id, askUntilOver(means, waitMs, signal, once, isOver));
  };

  return {
    project: way.projectId,
    async call<T>(tool: string, args: unknown = {}, given: CallOptions = {}) {
      checkGiven("call", given);
      return (await settled(tool, args, given)) as T;
    },
    async *callMany(calls, given = {}) {
      checkGiven("callMany", given);
      let heard: (() => void) | undefined;
      const done: Outcome[] = [];
      const tell = (outcome: Outcome): void => {
        done.push(outcome);
        heard?.();
      };
      let left = 0;
      const one = async (call: ManyCall): Promise<JsonValue> => {
        checkManyCall(call);
        const { tool, args = {}, ...own } = call;
        return settled(tool, args, { ...own, ...given });
      };
      for (const call of calls) {
        const index = left;
        left += 1;
        one(call).then(
          (result) => tell({ index, result }),
          (error: unknown) => tell({ index, error: understandError(error) }),
        );
      }
      for (; left > 0; left -= 1) {
        if (done.length === 0)
          await new Promise<void>((resolve) => {
            heard = resolve;
          });
        const next = done.shift();
        if (next !== undefined) yield next;
      }
    },
    async start(tool, args = {}, given = {}) {
      checkGiven("start", given);
      return made(tool, args, given, 0);
    },
    async wait<T>(callId: string, given: WaitOptions = {}) {
      checkGiven("wait", given);
      return resultOf(await read(callId, waitMsOf(given), given.signal)) as T;
    },
    async read(callId, given = {}) {
      checkGiven("read", given);
      return read(callId, given.wait === undefined ? 0 : waitMsOf(given), given.signal);
    },
    async cancel(callId, reason) {
      const id = idOf(callId);
      const { canceled, status } = await about(
        id,
        insist(soon(), undefined, () => way.cancelCall(id, reason)),
      );
      return { canceled: canceled === true, status: String(status) };
    },
    async why(callId) {
      const id = idOf(callId);
      return about(
        id,
        insist(soon(), undefined, () => way.explainCall(id)),
      );
    },
    run: (agent, instruction, given = {}) => runTurn(means, agent, instruction, given),
    events: (given = {}) => followEvents(means, given),
    tools: async () => {
      const bodies = await insist(soon(), undefined, () => way.listTools());
      return listForModels(bodies, (tool, args, signal) => settled(tool, args, { signal }));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};
