// Waiting for a call. The call is stored, so the end of this wait does not harm it: a server that goes away is asked again until
// the wait is over, and Ctrl-C ends only the wait.

import { type Body, isOver, isToolplaneError, type Plane } from "@toolplane/sdk/client";
import { parseText, textOf } from "./body.ts";
import type { CommandContext } from "./command.ts";
import { EXIT } from "./exit-code.ts";

/** The length of one request; short enough that a person sees the status change. */
const SLICE_MS = 10_000;

/** The server is gone, or starts again and cannot read its database yet. */
const AWAY: ReadonlySet<string> = new Set(["upstream_unavailable", "storage_error"]);

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

/** A client that says once that the server is away, and which call or turn is stored. */
export const openPatient = ({ openPlane, output, client }: CommandContext, what: () => string | undefined): Plane => {
  let told = false;
  return openPlane(() => {
    const known = what();
    if (known === undefined || told) return;
    told = true;
    output.note(`the server at ${client.url} is away; ${known} is written down, waiting for it`);
  });
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
        const isOurs = signal.aborted || (isToolplaneError(error) && AWAY.has(error.code));
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
