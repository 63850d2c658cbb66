// The runner: one for all executors. It takes a command and does everything the protocol asks of a tool service around the tool;
// an executor only runs the tool.

import { HEADERS, understandError } from "@toolplane/protocol";
import type { ClaimedCommand, ToolGateway } from "../gateway/gateway.ts";
import { type Clock, systemClock } from "../ports/clock.ts";
import { createIds, type Ids, type Random, sha256 } from "../ports/ids.ts";
import { type Log, silentLog } from "../ports/log.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { createEnvSecrets, type SecretSource } from "../secrets/secret-source.ts";
import type { CallInScope } from "../tools/call-scope.ts";
import { DEFAULT_MAX_RESULT_BYTES } from "./build-outcome.ts";
import type { Culprit } from "./crash.ts";
import { createDefinitionMemory, type DefinitionMemory } from "./definition-memory.ts";
import type { DeliveryMode } from "./deliver.ts";
import { diagnose } from "./diagnose.ts";
import type { Executor } from "./executor.ts";
import { runKey } from "./idempotency-key.ts";
import { type CommandPlan, planCommand } from "./plan-command.ts";
import { refuseCommand } from "./refuse-command.ts";
import { runCall } from "./run-call.ts";
import type { RunReport } from "./run-report.ts";
import { createRunSignal, onAbort } from "./run-signal.ts";
import type { CallEnd, Run, RunningDeps } from "./run-state.ts";
import { createSeenRuns } from "./seen-runs.ts";

export interface RunnerOptions {
  readonly gateway: ToolGateway;
  readonly executor: Executor;
  readonly target: string;
  /** `sys` for the plane's own services, whose commands run on `cmd.sys.<target>`. */
  readonly component?: "tool" | "sys" | undefined;
  readonly actor?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly ids?: Ids | undefined;
  readonly random?: Random | undefined;
  readonly log?: Log | undefined;
  readonly secrets?: SecretSource | undefined;
  /** Parameter -> variable: replaces the variable that a definition names for the parameter. */
  readonly envs?: Readonly<Record<string, string>> | undefined;
  readonly ownSecrets?: ReadonlyMap<string, string> | undefined;
  /** `two-step` writes the result card and reports a pointer to it, as the protocol has it for services of any kind. */
  readonly mode?: DeliveryMode | undefined;
  /** How often a `retry: safe` tool is tried in one run. */
  readonly maxAttempts?: number | undefined;
  readonly maxResultBytes?: number | undefined;
  /** Shared by the runners of one process; a memory of its own unless given. */
  readonly definitions?: DefinitionMemory | undefined;
}

export interface Runner {
  /** Never rejects. Aborting `stop` ends the run now: see planShutdown for what becomes of the call. */
  handle(command: ClaimedCommand, stop?: AbortSignal): Promise<RunReport>;
  /** An error that no code caught ends the process: ends every run. `by`: the call whose code threw, where that is known; it may be over. */
  crash(thrown: unknown, by?: CallInScope | undefined): void;
}

/** The first try and two more: a failure that lasts longer than seconds will probably last beyond the deadline. */
const DEFAULT_MAX_ATTEMPTS = 3;

type Accepted = Extract<CommandPlan, { kind: "accept" }>;

export const createRunner = (options: RunnerOptions): Runner => {
  const { gateway, target, component = "tool", clock = systemClock, log = silentLog } = options;
  const seen = createSeenRuns();
  const ownSecrets = options.ownSecrets ?? new Map<string, string>();
  const deps: RunningDeps = {
    gateway,
    executor: options.executor,
    target,
    actor: options.actor ?? `${component}.${target}`,
    clock,
    ids: options.ids ?? createIds(clock.now),
    random: options.random ?? Math.random,
    sha256,
    log,
    secrets: options.secrets ?? createEnvSecrets(process.env),
    envs: options.envs ?? {},
    ownSecrets,
    ownScrubber: createScrubber(ownSecrets),
    definitions: options.definitions ?? createDefinitionMemory(sha256),
    mode: options.mode ?? "one-step",
    maxAttempts: options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    maxResultBytes: options.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES,
    active: new Set(),
  };

  const start = async (plan: Accepted, command: ClaimedCommand, stop: AbortSignal | undefined): Promise<CallEnd> => {
    const signal = createRunSignal();
    const stopped = stop && onAbort(stop);
    void stopped?.aborted.then(() => signal.end("shutdown"));
    const end = runCall({ command, ...plan }, signal, deps).finally(() => stopped?.stop());
    seen.add(runKey(plan.context), command.lease?.id, signal, end);
    return end;
  };

  /** A plain service reports twice, because its first report may have been lost; under a lease one report is enough. */
  const repeat = async ({ report, sent }: CallEnd): Promise<RunReport> => {
    if (deps.mode === "one-step" || sent === undefined) return report;
    await gateway.report(sent);
    return report;
  };

  const accept = async (plan: Accepted, command: ClaimedCommand, stop?: AbortSignal): Promise<RunReport> => {
    const known = seen.find(runKey(plan.context), command.lease?.id);
    if (known === undefined) return (await start(plan, command, stop)).report;
    log.info("a command was delivered again", { call: plan.toolCallId });
    return repeat(await known.end);
  };

  /** The call was not started, so it goes back at once; otherwise it would wait until its lease lapses. */
  const ignore = async (command: ClaimedCommand, reason: string): Promise<RunReport> => {
    const toolCallId = command.headers[HEADERS.toolCallId];
    log.warn("a command is not for this service", { reason, subject: command.subject });
    if (command.lease !== undefined && toolCallId !== undefined) {
      await gateway.release({ toolCallId, leaseId: command.lease.id });
    }
    return { outcome: "ignored", toolCallId };
  };

  const handle = async (command: ClaimedCommand, stop?: AbortSignal): Promise<RunReport> => {
    const plan = planCommand(command, { projectId: gateway.projectId, target, component }, deps.ids);
    switch (plan.kind) {
      case "ignore":
        return ignore(command, plan.reason);
      case "swallow":
        log.error("a command without usable headers was dropped", { clause: plan.clause, reason: plan.error.message });
        return { outcome: "swallowed" };
      case "refuse":
        return refuseCommand({ command, ...plan }, deps);
      case "accept":
        if (plan.headerLikeKeys.length > 0)
          log.warn("keys of a command's payload look like headers and are ignored", {
            call: plan.toolCallId,
            keys: plan.headerLikeKeys.join(", "),
          });
        return accept(plan, command, stop);
    }
  };

  const crash = (thrown: unknown, by: CallInScope | undefined): void => {
    const runs = [...deps.active];
    // The error may quote a secret of any call that runs, and of the one whose code threw.
    const text = (said: string): string =>
      runs.reduce((clean, { scrubber }) => scrubber.text(clean), deps.ownScrubber.text(by?.scrub(said) ?? said));
    const diagnostics = diagnose(thrown, { text });
    const culprit = runs.find((run) => run.toolCallId === by?.toolCallId);
    const after = culprit === undefined ? ", after its answer" : "";
    log.error("an error that no code caught ends the service", {
      reason: diagnostics?.message,
      thrown_by: by && `${by.toolName} in call ${by.toolCallId}${after}`,
      running: runs.map((run) => `${run.payload.tool_name} ${run.toolCallId}`).join(", "),
      stack: diagnostics?.stack,
    });
    const whose = (run: Run): Culprit => (by === undefined ? "unknown" : culprit === run ? "this" : "other");
    for (const run of runs) {
      run.crash = { thrown, culprit: whose(run), diagnostics };
      run.signal.end("crashed");
    }
  };

  return {
    crash,
    async handle(command, stop) {
      try {
        return await handle(command, stop);
      } catch (thrown) {
        const error = understandError(thrown);
        log.error("a command could not be handled", { code: error.code, reason: error.message });
        return { outcome: "undelivered" };
      }
    },
  };
};
