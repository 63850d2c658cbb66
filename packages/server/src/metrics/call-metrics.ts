// What is counted of calls: how many, how they ended, and how long they waited and ran. Told by the engine after each commit of this
// process (the port CallObserver), so a call costs additions and no statement.
//   When a call was made is in its headers, so its whole time is known wherever it settles. How long it waited and ran is known to
//   the process where it was leased; when another process settles it, those two are not counted.

import { type CallChange, type CallObserver, isSettled } from "@toolplane/engine";
import { HEADERS } from "@toolplane/protocol";
import { createLabelLimit, type MetricRegistry } from "./metric-registry.ts";

/** Names of tools that are told apart; a project can register any number. */
const MAX_TOOLS = 100;
/** Calls that were leased here and not settled here yet; those that settle elsewhere are dropped when there are more. */
const MAX_RUNNING = 20_000;

const madeAt = ({ headers }: CallChange): number =>
  typeof headers === "string" ? Number.NaN : Number(headers[HEADERS.timestamp]);

const seconds = (from: number, to: number): number => Math.max(to - from, 0) / 1_000;

export const createCallMetrics = (registry: MetricRegistry, now: () => number): CallObserver => {
  const toolOf = createLabelLimit(MAX_TOOLS);
  const dispatched = registry.counter({
    name: "toolplane_calls_dispatched_total",
    help: "Calls that this process has stored.",
  });
  const leased = registry.counter({
    name: "toolplane_calls_leased_total",
    help: "Calls that this process has given to a tool service.",
  });
  const requeued = registry.counter({
    name: "toolplane_calls_requeued_total",
    help: "Calls that went back to the queue because their service was lost.",
  });
  const settled = registry.counter({
    name: "toolplane_calls_settled_total",
    help: "Calls that have ended in this process, by status.",
  });
  const whole = registry.histogram({
    name: "toolplane_call_seconds",
    help: "From the dispatch of a call to its settlement.",
  });
  const queue = registry.histogram({
    name: "toolplane_call_queue_seconds",
    help: "From the dispatch of a call to its lease.",
  });
  const run = registry.histogram({
    name: "toolplane_call_run_seconds",
    help: "From the lease of a call to its settlement.",
  });
  const running = new Map<string, number>();

  const begin = (key: string, change: CallChange, tool: string): void => {
    const at = now();
    leased.add({ tool });
    const made = madeAt(change);
    // A call that was made with its lease waited for nothing.
    queue.observe(Number.isNaN(made) ? 0 : seconds(made, at), { tool });
    running.set(key, at);
    if (running.size <= MAX_RUNNING) return;
    for (const oldest of running.keys()) {
      running.delete(oldest);
      return;
    }
  };

  const end = (key: string, change: CallChange, tool: string): void => {
    const at = now();
    settled.add({ tool, status: change.status });
    const made = madeAt(change);
    if (!Number.isNaN(made)) whole.observe(seconds(made, at), { tool });
    const leasedAt = running.get(key);
    if (leasedAt === undefined) return;
    running.delete(key);
    run.observe(seconds(leasedAt, at), { tool });
  };

  return (change, news) => {
    const tool = toolOf(change.toolName);
    const key = `${change.projectId}/${change.toolCallId}`;
    if (change.status === "running") begin(key, change, tool);
    else if (isSettled(change.status)) end(key, change, tool);
    else if (running.delete(key)) requeued.add({ tool });
    else if (news?.isNew === true) dispatched.add({ tool });
  };
};
