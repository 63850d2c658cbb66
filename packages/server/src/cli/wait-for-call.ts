// Waiting for a call. The call is written down, so nothing that happens to this wait hurts it: a server that goes away
// meanwhile is asked again until the wait is over, and Ctrl-C ends only the wait.

import { ERROR_TABLE, isToolplaneError } from "@toolplane/protocol";
import { parseText, textOf } from "./body.ts";
import { type Body, pathOf } from "./client.ts";
import type { CommandContext } from "./command.ts";
import { EXIT } from "./exit-code.ts";

const SETTLED: ReadonlySet<string> = new Set(["success", "failed", "canceled", "timeout", "partial"]);

/** One question; short enough that a watcher sees the status change. */
const SLICE_MS = 10_000;
/** Between questions to a server that is away. */
const AWAY_MS = 500;

export const isOver = (call: Body): boolean => SETTLED.has(textOf(call, "status") ?? "");

/** The other side's trouble, which may pass. */
export const mayPass = (error: unknown): boolean =>
  isToolplaneError(error) && (ERROR_TABLE[error.code].http >= 500 || error.code === "rate_limited");

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

/** The call as it is when it is over, when the time is, or when somebody pressed Ctrl-C. */
export const waitForCall = async (context: CommandContext, call: Body, { untilMs, signal }: Wait): Promise<Body> => {
  const { io, output, client, project } = context;
  const id = parseText(call, "tool_call_id");
  let known = call;
  let away = false;
  try {
    while (!isOver(known) && !signal.aborted) {
      const left = untilMs - io.now();
      if (left <= 0) break;
      const waitMs = Math.min(left, SLICE_MS);
      output.progress(`call ${id} is ${textOf(known, "status") ?? "running"}, ${Math.ceil(left / 1000)} s left`);
      try {
        const query = { wait_seconds: waitMs / 1000 };
        known = await client.request({ path: pathOf("projects", project, "calls", id), query, signal, waitMs });
        away = false;
      } catch (error) {
        if (signal.aborted) break;
        if (!mayPass(error)) throw error;
        if (!away) output.note(`the server at ${client.url} is away; call ${id} is written down, waiting for it`);
        away = true;
        await io.sleep(Math.min(AWAY_MS, left), signal);
      }
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
    `call ${id} ${state}; see it with: toolplane calls show ${id}, ask why with: toolplane why ${id}, stop it with: toolplane calls cancel ${id}`,
  );
  return EXIT.running;
};
