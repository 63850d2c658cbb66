// The tasks of a page's main thread, from a trace of the browser: how long they took by the clock, and how long the processor worked on
// them. On a machine that does other work the first is longer than the second.

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

export interface TaskTimes {
  readonly tasks: number;
  /** The five longest, in milliseconds. */
  readonly byClock: readonly number[];
  readonly byProcessor: readonly number[];
  /** What the task with the most processor time did, the longest parts first. */
  readonly longest: readonly string[];
}

const MOST = 5;
const PARTS: ReadonlySet<string> = new Set([
  "FunctionCall",
  "EvaluateScript",
  "TimerFire",
  "FireAnimationFrame",
  "Layout",
  "UpdateLayoutTree",
  "PrePaint",
  "Paint",
  "Layerize",
  "Commit",
  "MinorGC",
  "MajorGC",
  "ParseHTML",
  "RunMicrotasks",
]);

const ms = (micros: number | undefined): number => Math.round((micros ?? 0) / 100) / 10;
const largest = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => b - a).slice(0, MOST);

/** Pure. */
export const planTaskTimes = (events: readonly TraceEvent[]): TaskTimes => {
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const own = events.filter(({ ph, pid, tid }) => ph === "X" && mains.has(`${pid} ${tid}`));
  const tasks = own.filter(({ name }) => name === "RunTask" || name === "ThreadControllerImpl::RunTask");
  const top = tasks.toSorted((a, b) => (b.tdur ?? 0) - (a.tdur ?? 0))[0];
  const parts = own.filter(
    ({ name, ts, pid }) =>
      top !== undefined && pid === top.pid && PARTS.has(name) && ts >= top.ts && ts <= top.ts + (top.dur ?? 0),
  );
  return {
    tasks: tasks.length,
    byClock: largest(tasks.map(({ dur }) => ms(dur))),
    byProcessor: largest(tasks.map(({ tdur }) => ms(tdur))),
    longest: parts
      .toSorted((a, b) => (b.tdur ?? 0) - (a.tdur ?? 0))
      .slice(0, MOST)
      .map(({ name, tdur }) => `${name} ${ms(tdur)}`),
  };
};

export const readTrace = (buffer: Buffer): TaskTimes =>
  planTaskTimes((JSON.parse(buffer.toString("utf8")) as { readonly traceEvents: readonly TraceEvent[] }).traceEvents);
