// How a plane in the user's own process ends: running tools have some time to finish, and the log names what was cut short.

import { type Log, systemClock } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import type { Serving, Tool } from "@toolplane/sdk";

export interface CloseOptions {
  /** Seconds that running tools may take to finish; 10 unless given. Then they are told to stop: their signal is aborted. */
  readonly drainSeconds?: number | undefined;
}

const DEFAULT_DRAIN_SECONDS = 10;
/** A larger `drainSeconds` counts as this one. */
const MAX_DRAIN_SECONDS = 24 * 3_600;

export const isClosed = (): ToolplaneError => new ToolplaneError("canceled", "the plane was closed");

export const drainSecondsOf = ({ drainSeconds = DEFAULT_DRAIN_SECONDS }: CloseOptions): number => {
  if (typeof drainSeconds === "number" && drainSeconds >= 0) return Math.min(drainSeconds, MAX_DRAIN_SECONDS);
  throw new ToolplaneError("bad_request", `drainSeconds is a number of seconds, 0 or more, not ${drainSeconds}`);
};

interface Draining {
  readonly target: string;
  readonly serving: Serving;
  readonly drainSeconds: number;
  readonly log: Log;
}

/** Lets the tools of a target finish. The log has an error when tools are told to stop, because their work is not done. */
export const drain = async ({ target, serving, drainSeconds, log }: Draining): Promise<void> => {
  const drainMs = drainSeconds * 1000;
  const ended = new AbortController();
  // This timer is made before the service's own, so it counts the running tools before the service tells them to stop.
  const late = systemClock.sleep(drainMs, ended.signal).then(() => {
    const running = ended.signal.aborted ? 0 : serving.running();
    const what =
      "the plane closes, and tools that still run were told to stop; to let them run longer, call close with a larger drainSeconds";
    if (running > 0) log.error(what, { target, running, drain_seconds: drainSeconds });
  });
  await serving.stop({ drainMs }).finally(() => ended.abort());
  await late;
};

/** Logs the end of a tool that returned after the plane was closed: its result is lost. */
export const tellLate = (tool: Tool, closing: AbortSignal, log: Log): Tool => ({
  ...tool,
  run: async (args, context) => {
    const value = await tool.run(args, context);
    if (closing.aborted) log.error(`${tool.name} ended after the plane was closed: its result is lost`);
    return value;
  },
});
