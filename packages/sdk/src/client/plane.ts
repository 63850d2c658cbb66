// The callers' client: one interface, whichever way leads to the plane.
//   CP1. Every call has a key, made once. A request whose answer was lost is sent again with it, so the tool runs once.
//   CP2. An error that may pass (by the error table) is retried until the wait is over; every other error is the answer.
//   CP3. A settled call is an answer, also a failed one: the client never repeats a call because its tool failed.
//   CP4. An aborted signal ends the wait. The call goes on unless its caller asked for a cancellation. The error has the call's id: the
//        client asks for it by the key, for a second at most, when no answer has named it yet.

import { type JsonValue, type ToolplaneError, UsageError, understandError } from "@toolplane/protocol";
import { givenUp } from "./api.ts";
import { callIdOf, isOver, resultOf } from "./call-outcome.ts";
import { followEvents, type PlaneEvent } from "./events.ts";
import { askUntilOver, createMeans, HAND_OVER_MS, type Means, type PlaneOptions } from "./means.ts";
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
  /** An aborted signal also cancels the call on the plane; `call` then rejects after the plane has confirmed it. */
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
  callMany(calls: Iterable<ManyCall>, options?: WaitOptions): AsyncIterable<Outcome>;
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

const DEFAULT_WAIT_SECONDS = 30;
/** A server that is there answers in milliseconds. */
const FIND_MS = 1_000;
const waitMsOf = ({ wait = DEFAULT_WAIT_SECONDS }: WaitOptions): number => {
  if (!(wait >= 0)) throw new UsageError(`wait is a number of seconds, 0 or more, not ${wait}`);
  return wait * 1000;
};

const askOf = (
  means: Means,
  tool: string,
  args: unknown,
  { key, agent, at }: CallOptions,
): Omit<CallAsk, "untilMs"> => ({
  toolName: tool,
  arguments: args,
  key: key ?? means.makeKey(),
  agentId: agent,
  notBefore: at?.toISOString(),
});

export const createPlane = (options: PlaneOptions): Plane => {
  const means = createMeans(options);
  const { way, clock, insist } = means;
  const soon = (): number => clock.now() + HAND_OVER_MS;

  const make = (ask: Omit<CallAsk, "untilMs">, waitMs: number, signal: AbortSignal | undefined): Promise<Body> =>
    askUntilOver(means, waitMs, signal, (untilMs) => way.makeCall({ ...ask, untilMs }, signal), isOver);

  /** Sends the call again by its key, then cancels it: if the first request never arrived, the call is canceled before it runs. */
  const cancelByKey = async (ask: Omit<CallAsk, "untilMs">): Promise<string> => {
    const made = await make(ask, 0, undefined);
    const callId = callIdOf(made);
    if (!isOver(made)) await insist(soon(), undefined, () => way.cancelCall(callId, "its caller gave up"));
    return callId;
  };

  /** The id of a call whose caller went away before an answer named it. A request that never arrived makes the call now: it goes on. */
  const findByKey = async (ask: Omit<CallAsk, "untilMs">): Promise<string | undefined> => {
    const found = new AbortController();
    const late = clock.sleep(FIND_MS, found.signal).then(() => undefined);
    const made = make(ask, 0, AbortSignal.timeout(FIND_MS)).then(callIdOf);
    return Promise.race([made, late]).finally(() => found.abort());
  };

  const settled = async (tool: string, args: unknown, given: CallOptions): Promise<JsonValue> => {
    const { signal, cancelOnAbort = false } = given;
    // The call was never sent, so there is nothing to cancel.
    if (signal?.aborted === true) throw givenUp();
    const ask = askOf(means, tool, args, given);
    try {
      return resultOf(await make(ask, waitMsOf(given), signal));
    } catch (error) {
      if (!signal?.aborted) throw error;
      throw givenUp(error, await (cancelOnAbort ? cancelByKey(ask) : findByKey(ask)).catch(() => undefined));
    }
  };

  const close = (): Promise<void> => {
    means.close();
    return way.close();
  };

  const read = (callId: string, waitMs: number, signal?: AbortSignal): Promise<Body> =>
    askUntilOver(means, waitMs, signal, (untilMs) => way.readCall(callId, untilMs - clock.now(), signal), isOver).catch(
      (error: unknown) => {
        throw signal?.aborted === true ? givenUp(error, callId) : error;
      },
    );

  return {
    project: way.projectId,
    call: async <T>(tool: string, args: unknown = {}, given: CallOptions = {}) =>
      (await settled(tool, args, given)) as T,
    async *callMany(calls, given = {}) {
      let heard: (() => void) | undefined;
      const done: Outcome[] = [];
      const tell = (outcome: Outcome): void => {
        done.push(outcome);
        heard?.();
      };
      let left = 0;
      for (const { tool, args = {}, ...own } of calls) {
        const index = left;
        left += 1;
        settled(tool, args, { ...own, ...given }).then(
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
    start: (tool, args = {}, given = {}) => make(askOf(means, tool, args, given), 0, given.signal),
    wait: async <T>(callId: string, given: WaitOptions = {}) =>
      resultOf(await read(callId, waitMsOf(given), given.signal)) as T,
    read: (callId, given = {}) => read(callId, given.wait === undefined ? 0 : waitMsOf(given), given.signal),
    async cancel(callId, reason) {
      const { canceled, status } = await insist(soon(), undefined, () => way.cancelCall(callId, reason));
      return { canceled: canceled === true, status: String(status) };
    },
    why: (callId) => insist(soon(), undefined, () => way.explainCall(callId)),
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
