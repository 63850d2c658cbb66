// A tool service: claims commands of one target and lets the runner handle them.
//   TS1. A lease means started: the service claims no more than it can start at once, and gives back what it cannot start.
//   TS2. The service outlives its server: while no server answers it asks again without end, less and less often.
//      A refusal of the first claim is told instead: the token is wrong, and asking again would not change it.
//   TS3. Stopping: first no more claims, then running calls may end by themselves, then they are told to stop.

import { type Backoff, backoff, HEADERS, type ToolplaneError, understandError } from "@toolplane/protocol";
import type { ClaimedCommand, ClaimingService, ToolGateway } from "../gateway/gateway.ts";
import { type Clock, inTime } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { RunOutcome } from "../runner/run-report.ts";
import type { Runner } from "../runner/runner.ts";
import { createSlots } from "./slots.ts";

export interface ToolServiceOptions {
  readonly gateway: Pick<ToolGateway, "claim" | "release">;
  readonly runner: Pick<Runner, "handle">;
  readonly target: string;
  /** Calls that run at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The definitions it runs, asked before every claim; absent: it names none, and gets no call that is pinned to one. */
  readonly definitions?: (() => readonly string[] | undefined) | undefined;
  /** Every tool it serves may run twice. */
  readonly retrySafe?: boolean | undefined;
  /** How long a claim waits for work. */
  readonly waitMs?: number | undefined;
  /** The server is back after it was away. */
  readonly onReconnected?: (() => void) | undefined;
  /** The plane refused the token of this service before it answered one claim. Absent: it asks again, as after other failures. */
  readonly onRefused?: ((error: ToolplaneError) => void) | undefined;
  /** Nothing came while a claim waited. */
  readonly onIdle?: (() => void) | undefined;
}

export interface StopOptions {
  /** How long running calls may take to end by themselves. */
  readonly drainMs?: number | undefined;
}

export interface ToolService {
  stop(options?: StopOptions): Promise<void>;
  /** Resolves when the service has stopped. */
  readonly finished: Promise<void>;
  /** For a process that an error ends: `endRuns` ends them now. Resolves when their last words are said, or after a few seconds. */
  crash(endRuns: () => void): Promise<void>;
  running(): number;
}

/** Long enough to cost little while idle, short enough for proxies that cut silent connections. */
const CLAIM_WAIT_MS = 20_000;
/** What a server hands out at once. */
const MAX_PER_CLAIM = 256;
/** Longer than most calls take. Docker kills a container after the same time, systemd and Kubernetes later. */
const DRAIN_MS = 10_000;
/** For the last results of calls that were told to stop. */
const LAST_WORDS_MS = 5_000;
/** A call that was made while the server restarted should not wait for us much longer than for the server. */
const CLAIM_BACKOFF: Backoff = { first: 250, longest: 5_000 };
/** A server that answers "nothing" faster does not keep the question open. */
const QUICK_ANSWER_MS = 100;

/** Nothing was done for the call, so it may be delivered again at once. */
const UNHANDLED: ReadonlySet<RunOutcome> = new Set(["ignored", "swallowed", "returned", "undelivered"]);

const REFUSED: ReadonlySet<string> = new Set(["unauthorized", "auth_failed"]);

export interface ClaimState {
  /** Claims in a row that failed. */
  readonly failures: number;
  /** Claims in a row that came back empty at once. */
  readonly quickEmpty: number;
  /** Commands in a row that could not be handled. */
  readonly unhandled: number;
}

/** How long to wait before the next claim: not at all, unless something keeps going wrong. */
export const planClaimPause = (state: ClaimState, random: Random): number => {
  const trouble = Math.max(state.failures, state.quickEmpty, state.unhandled);
  return trouble === 0 ? 0 : backoff(CLAIM_BACKOFF, trouble, random);
};

export const startToolService = (options: ToolServiceOptions): ToolService => {
  const { gateway, runner, target, concurrency, clock, random, log, waitMs = CLAIM_WAIT_MS } = options;
  const noMore = new AbortController();
  const now = new AbortController();
  const slots = createSlots(concurrency);
  let state: ClaimState = { failures: 0, quickEmpty: 0, unhandled: 0 };
  let isPausing = false;
  let wasAnswered = false;
  const service: ClaimingService = { room: () => (isPausing ? 0 : Math.min(slots.free(), MAX_PER_CLAIM)) };

  const giveBack = async ({ headers, lease }: ClaimedCommand): Promise<void> => {
    const toolCallId = headers[HEADERS.toolCallId];
    if (lease === undefined || toolCallId === undefined) return;
    await gateway
      .release({ toolCallId, leaseId: lease.id }, { until: () => lease.expiresAt })
      .catch((thrown: unknown) => {
        log.warn("a call could not be given back; its lease will lapse", { reason: understandError(thrown).message });
      });
  };

  const begin = (command: ClaimedCommand): void => {
    slots.use(async () => {
      const { outcome } = await runner.handle(command, now.signal);
      state = { ...state, unhandled: UNHANDLED.has(outcome) ? state.unhandled + 1 : 0 };
    });
  };

  const failed = (error: ToolplaneError): void => {
    if (!wasAnswered && options.onRefused !== undefined && REFUSED.has(error.code)) {
      noMore.abort();
      options.onRefused(error);
      return;
    }
    // Logged once when it begins; the tries in between say nothing new.
    if (state.failures === 0)
      log.warn("this service could not ask for calls; it tries again", {
        target,
        code: error.code,
        reason: error.message,
      });
    state = { ...state, failures: state.failures + 1 };
  };

  const answered = (commands: readonly ClaimedCommand[], tookMs: number): void => {
    wasAnswered = true;
    if (state.failures > 0) {
      log.info("this service asks for calls again", { target });
      options.onReconnected?.();
    }
    const quick = commands.length === 0 && tookMs < Math.min(QUICK_ANSWER_MS, waitMs);
    state = { ...state, failures: 0, quickEmpty: quick ? state.quickEmpty + 1 : 0 };
    if (commands.length === 0 && !quick && !noMore.signal.aborted) options.onIdle?.();
  };

  const claimOnce = async (): Promise<void> => {
    const askedAt = clock.now();
    let commands: readonly ClaimedCommand[];
    try {
      const definitions = options.definitions?.();
      const request = {
        target,
        max: service.room(),
        waitMs,
        service,
        retrySafe: options.retrySafe,
        ...(definitions === undefined ? {} : { definitions }),
      };
      commands = await gateway.claim(request, noMore.signal);
    } catch (thrown) {
      if (!noMore.signal.aborted) failed(understandError(thrown));
      return;
    }
    answered(commands, clock.now() - askedAt);
    const startable = noMore.signal.aborted ? 0 : slots.free();
    for (const command of commands.slice(0, startable)) begin(command);
    await Promise.all(commands.slice(startable).map(giveBack));
  };

  const loop = async (): Promise<void> => {
    while (!noMore.signal.aborted) {
      if (slots.free() === 0) {
        await slots.oneFree(noMore.signal);
        continue;
      }
      const pauseMs = planClaimPause(state, random);
      if (pauseMs > 0) {
        isPausing = true;
        await clock.sleep(pauseMs, noMore.signal);
        isPausing = false;
      }
      if (!noMore.signal.aborted) await claimOnce();
    }
  };

  const looping = loop();
  let stopping: Promise<void> | undefined;
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });

  const drain = async (drainMs: number): Promise<void> => {
    noMore.abort();
    const ended = looping.then(() => slots.empty());
    await inTime(clock, drainMs, ended);
    if (slots.used() > 0) {
      log.warn("running calls are told to stop", { target, running: slots.used() });
      now.abort();
      await inTime(clock, LAST_WORDS_MS, ended);
    }
    finish();
  };

  const crash = async (endRuns: () => void): Promise<void> => {
    noMore.abort();
    endRuns();
    await inTime(
      clock,
      LAST_WORDS_MS,
      looping.then(() => slots.empty()),
    );
  };

  return {
    finished,
    crash,
    running: () => slots.used(),
    stop({ drainMs = DRAIN_MS } = {}) {
      stopping ??= drain(drainMs);
      return stopping;
    },
  };
};
