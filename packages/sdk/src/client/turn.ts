// A turn of an agent as its caller follows it: steps and text as they come, then the deliverable. The turn is stored before its
// first event, so a lost connection, or a caller that goes away, ends only the watching.

import { isErrorCode, isRecord, type JsonValue, ToolplaneError, understandError } from "@toolplane/protocol";
import { inTime, LATE } from "../ports/clock.ts";
import { givenUp } from "./api.ts";
import { followPages, type PlaneEvent } from "./events.ts";
import { checkGiven, waitMsOf } from "./given-options.ts";
import { askUntilOver, HAND_OVER_MS, type Means } from "./means.ts";
import { strangeBody } from "./strange-answer.ts";
import type { Body, TurnBudget } from "./way.ts";

export interface RunOptions {
  /** The same key finds the turn that was started with it. Made up unless given. */
  readonly key?: string | undefined;
  /** Seconds to wait for the end; without it the turn is followed until it is over, if it could be started within 30 seconds. */
  readonly wait?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A box whose cards the turn begins with. */
  readonly contextBox?: string | undefined;
  /** An earlier turn of the agent: the agent is told what was said in it, and before it, once and in order. */
  readonly continue?: string | undefined;
  /** What this turn may use up; what is left out is as the agent's profile says. */
  readonly budget?: TurnBudget | undefined;
}

type TurnNews =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "step"; readonly stepId: string; readonly phase: string }
  /** `phase`: dispatched, leased, settled, canceled, retried, approval_wanted, approval_decided, dead. */
  | {
      readonly type: "call";
      readonly callId: string;
      readonly toolName: string;
      readonly phase: string;
      readonly status: string;
    }
  | { readonly type: "part"; readonly callId: string; readonly part: unknown }
  | { readonly type: "end"; readonly status: string }
  | { readonly type: "other" };

/** What happened in the turn, and the event that said it. */
export type TurnEvent = TurnNews & { readonly source: PlaneEvent };

/** Events that are not read are kept, up to a thousand. A turn that was over before it was asked for (by a used key) has none. */
export interface RunningTurn extends AsyncIterable<TurnEvent> {
  readonly id: Promise<string>;
  /** The agent's deliverable; throws a `ToolplaneError` when the turn did not succeed. */
  deliverable(): Promise<JsonValue>;
  /** The turn as the API shows it, when the turn is over or the wait is over. */
  ended(): Promise<Body>;
  stop(reason?: string): Promise<void>;
}

const MAX_KEPT = 1_000;

/** How long events of a turn that is over when it is started may still come: the turn may have been that quick. */
const LATE_EVENTS_MS = 1_000;
/** The same when the start was asked for again: then the stream of events may have to connect again too, and read what it missed. */
const LATER_EVENTS_MS = 10_000;

const turnIdOf = (turn: Body): string => {
  if (typeof turn.agent_turn_id === "string" && turn.agent_turn_id !== "") return turn.agent_turn_id;
  throw strangeBody("its answer has no agent_turn_id");
};

/** The code of a turn that a person or a program ended. */
const STOPPED = "stopped";

const isOver = (turn: Body): boolean => turn.ended_at !== null && turn.ended_at !== undefined;

const failureOf = (turn: Body): ToolplaneError => {
  const id = String(turn.agent_turn_id);
  const detail = { agent_turn_id: id, status: turn.status };
  if (!isOver(turn)) return new ToolplaneError("still_running", `turn ${id} is ${String(turn.status)}`, { detail });
  const error = isRecord(turn.error) ? turn.error : {};
  const isCanceled = turn.status === "canceled" || error.code === STOPPED;
  const code = isErrorCode(error.code) ? error.code : isCanceled ? "canceled" : "unknown_error";
  const message = typeof error.message === "string" ? error.message : `turn ${id} ended as ${String(turn.status)}`;
  // A code that is not in the table of errors is kept, as it is for a tool's own code.
  const own = typeof error.code === "string" && error.code !== code ? { code: error.code } : {};
  return new ToolplaneError(code, message, { detail: { ...detail, ...own } });
};

const textIn = (body: Body, key: string): string => (typeof body[key] === "string" ? body[key] : "");

const planNews = ({ subject, payload }: PlaneEvent): TurnNews => {
  const said = isRecord(payload) ? payload : {};
  const kind = subject.slice(subject.lastIndexOf(".") + 1);
  if (kind === "chunk" && said.chunk_type === "content") return { type: "text", text: textIn(said, "content") };
  if (kind === "step") return { type: "step", stepId: textIn(said, "step_id"), phase: textIn(said, "phase") };
  if (kind === "call")
    return {
      type: "call",
      callId: textIn(said, "tool_call_id"),
      toolName: textIn(said, "tool_name"),
      phase: textIn(said, "phase"),
      status: textIn(said, "status"),
    };
  if (kind === "part") return { type: "part", callId: textIn(said, "tool_call_id"), part: said.part };
  if (kind === "task") return { type: "end", status: textIn(said, "status") };
  return { type: "other" };
};

interface Kept {
  push(event: TurnEvent): void;
  end(error?: ToolplaneError): void;
  read(): AsyncGenerator<TurnEvent>;
}

const createKept = (): Kept => {
  const events: TurnEvent[] = [];
  let over: { readonly error: ToolplaneError | undefined } | undefined;
  let heard: (() => void) | undefined;
  return {
    push(event) {
      events.push(event);
      if (events.length > MAX_KEPT) events.shift();
      heard?.();
    },
    end(error) {
      over ??= { error };
      heard?.();
    },
    async *read() {
      for (;;) {
        const next = events.shift();
        if (next !== undefined) yield next;
        else if (over === undefined)
          await new Promise<void>((resolve) => {
            heard = resolve;
          });
        else if (over.error !== undefined) throw over.error;
        else return;
      }
    },
  };
};

const soon = ({ clock }: Means): number => clock.now() + HAND_OVER_MS;

const notStarted = ({ way }: Means): ToolplaneError =>
  new ToolplaneError(
    "upstream_unavailable",
    `${way.place} did not answer before the wait was over; no turn was started`,
  );

/** A start never waits for longer than this: a server is not away for so long, and a timer needs a bound. */
const LONGEST_START_MS = 24 * 3_600_000;

/** When the waits end: for the turn to start, and for it to be over. */
const planWaits = (now: number, wait: number | undefined): { readonly startMs: number; readonly endMs: number } => {
  const waitMs = waitMsOf({ wait });
  return {
    startMs: now + (waitMs === 0 ? HAND_OVER_MS : Math.min(waitMs, LONGEST_START_MS)),
    endMs: wait === undefined ? Number.POSITIVE_INFINITY : now + waitMs,
  };
};

export const runTurn = (means: Means, agentId: string, instruction: string, options: RunOptions): RunningTurn => {
  const { way, clock, insist, makeKey } = means;
  const { key = makeKey(), contextBox: contextBoxId, continue: continued, budget, signal } = options;
  const kept = createKept();
  const watched = new AbortController();
  const watching = signal === undefined ? watched.signal : AbortSignal.any([signal, watched.signal]);
  const listening = Promise.withResolvers<void>();

  /** Listening begins before the turn does, so no event of the turn is missed. The wait is over for it as for the turn. */
  const listen = async (startMs: number): Promise<void> => {
    if ((await inTime(clock, startMs - clock.now(), listening.promise)) === LATE) throw notStarted(means);
  };
  const waits = (async () => {
    checkGiven("run", options);
    return planWaits(clock.now(), options.wait);
  })();
  let starts = 0;
  const started = (async (): Promise<Body> => {
    const { startMs } = await waits;
    await listen(startMs);
    return insist(startMs, signal, () => {
      starts += 1;
      return way.startTurn({ agentId, instruction, key, contextBoxId, continued, budget });
    });
  })();
  const id = started.then(turnIdOf);
  const ended = (async (): Promise<Body> => {
    const [{ endMs }, turn, turnId] = [await waits, await started, await id];
    if (isOver(turn)) return turn;
    const read = (untilMs: number): Promise<Body> => way.readTurn(turnId, untilMs - clock.now(), signal);
    return askUntilOver(means, Math.max(endMs - clock.now(), 0), signal, read, isOver);
  })();

  const watch = async (): Promise<void> => {
    const { startMs: openUntilMs } = await waits;
    for await (const page of followPages(means, { signal: watching, opened: listening.resolve, openUntilMs })) {
      const turnId = await id;
      const own = page.filter(({ payload }) => isRecord(payload) && payload.agent_turn_id === turnId);
      const told = own.map((source): TurnEvent => ({ ...planNews(source), source }));
      // The text of the last step may come in the same page as the end of the turn, and after it.
      const end = told.find(({ type }) => type === "end");
      for (const event of told) if (event !== end) kept.push(event);
      if (end === undefined) continue;
      kept.push(end);
      return;
    }
  };
  const stopWatching = (): void => watched.abort();
  const stopWhenPast = async (): Promise<void> => {
    if (!isOver(await started)) return;
    await clock.sleep(starts > 1 ? LATER_EVENTS_MS : LATE_EVENTS_MS, watched.signal);
    stopWatching();
  };
  stopWhenPast().catch(() => undefined);
  /** Why the turn could not be followed to its end; the loop over its events throws it. */
  let failed: ToolplaneError | undefined;
  // When the wait is over before the turn, the watching ends too.
  ended.then(
    (turn) => {
      if (!isOver(turn)) stopWatching();
    },
    (error: unknown) => {
      failed = understandError(error);
      stopWatching();
    },
  );
  /** `error`: why the watching ended; undefined when it came to its end. When we stopped it, its error says nothing. */
  const endLoop = (error: unknown): void => {
    listening.reject(error ?? givenUp());
    if (signal?.aborted === true) kept.end(givenUp(error));
    else if (watched.signal.aborted) kept.end(failed);
    else kept.end(error === undefined ? undefined : understandError(error));
  };
  watch()
    .then(() => endLoop(undefined), endLoop)
    .finally(stopWatching);
  // An error is thrown only to callers that ask for the end; without this handler Node would report an unhandled rejection.
  for (const one of [listening.promise, id, ended]) one.catch(() => undefined);

  return {
    id,
    ended: () => ended,
    async deliverable() {
      const turn = await ended;
      if (turn.status !== "success") throw failureOf(turn);
      return (turn.deliverable ?? null) as JsonValue;
    },
    async stop(reason) {
      const turnId = await id;
      await insist(soon(means), undefined, () => way.stopTurn(turnId, reason));
    },
    [Symbol.asyncIterator]: () => kept.read(),
  };
};
