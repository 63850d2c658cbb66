// Waiting for a call. The call is stored, so the end of this wait does not harm it: a server that goes away is asked again until
// the wait is over, and Ctrl-C ends only the wait.

import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { type Body, isOver, type Plane } from "@toolplane/sdk/client";
import { parseText, textOf } from "./body.ts";
import type { CommandContext } from "./command.ts";
import { secondsToWait } from "./error-line.ts";
import { EXIT } from "./exit-code.ts";

/** The length of one request; short enough that a person sees the status change. */
const SLICE_MS = 10_000;

/** The codes for a server that does not answer, or that starts and cannot read its database yet. */
const AWAY: ReadonlySet<string> = new Set(["upstream_unavailable", "storage_error"]);

/** Whether the server is away. A request that was sent and not answered (`outcome_unknown`) counts too: its key makes it safe to send again. */
const isServerAway = (error: unknown): error is ToolplaneError =>
  isToolplaneError(error) && (AWAY.has(error.code) || (error.code === "outcome_unknown" && isServerAway(error.cause)));

export interface Wait {
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** Runs `work` with a wait that Ctrl-C ends. */
export const withWait = async <T>(
  { io }: Pick<CommandContext, "io">,
  waitMs: number,
  work: (wait: Wait) => Promise<T>,
): Promise<T> => {
  const interrupted = new AbortController();
  const stopListening = io.onStop(() => interrupted.abort());
  try {
    return await work({ untilMs: io.now() + waitMs, signal: interrupted.signal });
  } finally {
    stopListening();
  }
};

export interface OpenPatientOptions {
  readonly startupMs?: number | undefined;
  /** The end of the wait that a person asked for: a limit that holds for longer is the answer at once. */
  readonly untilMs?: number | undefined;
}

/** A client that says once that the server is away and which call or turn is stored, and once that a limit makes it wait. */
export const openPatient = (
  { openPlane, output, client, io }: CommandContext,
  what: () => string | undefined,
  { startupMs, untilMs = Number.POSITIVE_INFINITY }: OpenPatientOptions = {},
): Plane => {
  let told = false;
  let toldLimit = false;
  return openPlane((error) => {
    const seconds = secondsToWait(error);
    if (seconds !== undefined) {
      // The server is there: a limit refuses the request for a moment.
      if (io.now() + seconds * 1_000 > untilMs) throw error;
      if (!toldLimit) output.note(`${error.message}; waiting ${seconds} s for it`);
      toldLimit = true;
      return;
    }
    const known = what();
    if (told || (known === undefined && startupMs === undefined)) return;
    told = true;
    const stored = known === undefined ? "nothing is written down yet" : `${known} is written down`;
    output.note(`the server at ${client.url} is away; ${stored}, waiting for it`);
  }, startupMs);
};

const SEE_RESTART = "if it restarts, --wait 30s makes this command wait for it";

/** The advice for a server that does not answer, and what a person can do who knows that it restarts. */
const withAdvice = (error: ToolplaneError): ToolplaneError => {
  const { todo, ...detail } = error.detail ?? {};
  const advice = typeof todo === "string" ? `${todo}; ${SEE_RESTART}` : SEE_RESTART;
  return new ToolplaneError(error.code, error.message, { detail: { ...detail, todo: advice }, cause: error });
};

const AWAY_PAUSE_MS = 500;

/**
 * Asks a server that may be restarting, or whose limits refuse the request for a while: with --wait it is asked until the wait is over.
 * The request must be safe to send twice.
 */
export const askPatiently = async <T>(
  { io, flags, output }: CommandContext,
  { untilMs, signal }: Wait,
  make: () => Promise<T>,
  onAway?: () => void,
): Promise<T> => {
  /** A request was sent and not answered. This stays true when later tries reach no server. */
  let doubt: ToolplaneError | undefined;
  for (let failures = 0; ; failures++) {
    try {
      return await make();
    } catch (error) {
      const seconds = secondsToWait(error);
      const canWait = seconds !== undefined && io.now() + seconds * 1_000 < untilMs;
      if (flags.wait !== undefined && canWait && !signal.aborted) {
        output.note(`${(error as Error).message}; waiting ${seconds} s for it`);
        await io.sleep(seconds * 1_000, signal);
        continue;
      }
      if (!isServerAway(error) || signal.aborted) throw error;
      if (error.code === "outcome_unknown") doubt = error;
      if (flags.wait === undefined) throw error.code === "upstream_unavailable" ? withAdvice(error) : error;
      if (io.now() >= untilMs) throw doubt ?? error;
      if (failures === 0) onAway?.();
      await io.sleep(AWAY_PAUSE_MS, signal);
    }
  }
};

/** The call when it is over, when the time is over, or when the user pressed Ctrl-C. */
export const waitForCall = async (
  { io, output }: CommandContext,
  plane: Plane,
  call: Body,
  { untilMs, signal }: Wait,
): Promise<Body> => {
  const id = parseText(call, "tool_call_id");
  let known = call;
  try {
    while (!isOver(known) && !signal.aborted) {
      const left = untilMs - io.now();
      if (left <= 0) break;
      output.progress(`call ${id} is ${textOf(known, "status") ?? "running"}, ${Math.ceil(left / 1000)} s left`);
      known = await plane.read(id, { wait: Math.min(left, SLICE_MS) / 1000, signal }).catch((error: unknown) => {
        const isOurs = signal.aborted || isServerAway(error);
        if (isOurs && (signal.aborted || left > SLICE_MS)) return known;
        throw error;
      });
    }
    return known;
  } finally {
    output.progress("");
  }
};

/** What to say of a call that is not over, and the exit code for it. */
export const leaveRunning = ({ output }: CommandContext, call: Body, interrupted: boolean): number => {
  const id = parseText(call, "tool_call_id");
  const state = interrupted ? "goes on without you" : `is still ${textOf(call, "status") ?? "running"}`;
  if (output.json) output.data(call);
  output.note(
    `call ${id} ${state}; to see it, to ask why or to stop it, give this id to: toolplane calls show, toolplane why, toolplane calls cancel`,
  );
  return EXIT.running;
};
