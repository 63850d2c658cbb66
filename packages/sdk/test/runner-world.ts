// A runner with a clock that stands still, a gateway that does as it is told, and a tool that is a function.

import type { ExecuteContext, Executor, ToolCall, ToolProfile } from "../src/runner/executor.ts";
import { createRunner, type Runner, type RunnerOptions } from "../src/runner/runner.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { createRecordingLog, type RecordingLog } from "./recording-log.ts";
import { countingIds, type SampleCall, type SampleOptions, sampleCall, TARGET } from "./sample-call.ts";
import { createScriptedGateway, type Script, type ScriptedGateway } from "./scripted-gateway.ts";

export type Run = (call: ToolCall, context: ExecuteContext) => unknown;

export interface RunnerWorldOptions extends Partial<Omit<RunnerOptions, "gateway" | "executor">> {
  readonly calls?: readonly SampleOptions[];
  readonly run?: Run;
  readonly profile?: Partial<ToolProfile>;
  readonly script?: Script;
}

export interface RunnerWorld {
  readonly clock: ManualClock;
  readonly gateway: ScriptedGateway;
  readonly runner: Runner;
  readonly log: RecordingLog;
  readonly calls: readonly SampleCall[];
  /** The first call. */
  readonly call: SampleCall;
  /** How often the tool was started. */
  runs(): number;
}

const PROFILE: ToolProfile = {
  retry: "never",
  timeoutSeconds: 30,
  pin: "record",
  definitionHash: "hash_1",
  control: "allow",
  secrets: [],
  envs: {},
};

export const createRunnerWorld = (options: RunnerWorldOptions = {}): RunnerWorld => {
  const { calls: samples = [{}], run = () => ({ words: 3 }), profile, script, ...rest } = options;
  const clock = createManualClock();
  const calls = samples.map(sampleCall);
  const gateway = createScriptedGateway({ clock, calls, ...(script === undefined ? {} : { script }) });
  const log = createRecordingLog();
  let runs = 0;
  const executor: Executor = {
    find: (name) => (name === "unknown_tool" ? undefined : { ...PROFILE, ...profile }),
    execute: async (call, context) => {
      runs += 1;
      return run(call, context);
    },
  };
  const runner = createRunner({
    target: TARGET,
    clock,
    ids: countingIds(),
    random: () => 0,
    log,
    ...rest,
    gateway,
    executor,
  });
  const [call] = calls;
  if (call === undefined) throw new Error("a world needs a call");
  return { clock, gateway, runner, log, calls, call, runs: () => runs };
};

/** A tool that waits until it is told to stop, and notes why. */
export const waitForAbort = (): { readonly run: Run; readonly reasons: unknown[] } => {
  const reasons: unknown[] = [];
  return {
    reasons,
    run: (_call, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          reject(signal.reason as Error);
        });
      }),
  };
};
