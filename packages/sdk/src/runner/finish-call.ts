// From the end of a run to the end of its call: a result is built and delivered, or the call is given back, or nothing is
// reported because another party has ended the call or will.

import {
  type ErrorEnvelope,
  type JsonObject,
  type ResultContext,
  ToolplaneError,
  understandError,
} from "@toolplane/protocol";
import type { Diagnostics } from "../gateway/gateway.ts";
import { scrubLog } from "../secrets/scrubber.ts";
import { PreparedResult } from "../tools/tool-result.ts";
import type { RunEnd } from "./attempts.ts";
import {
  buildFailed,
  buildTooLarge,
  buildValue,
  type OutcomeInput,
  outcomeOf,
  type ReadyResult,
  sessionStateOf,
  viewsOf,
} from "./build-outcome.ts";
import { type Crash, crashedError, planCrash } from "./crash.ts";
import { DeferredCall } from "./deferred.ts";
import { deliver, reportOf } from "./deliver.ts";
import { diagnoseEnd } from "./diagnose.ts";
import { letGo } from "./let-go.ts";
import { planShutdown } from "./plan-run.ts";
import type { RunReport } from "./run-report.ts";
import type { CallEnd, Run } from "./run-state.ts";

/** How long after the end of the lease a result is still sent to a plane that was away. The plane decides whether the lease counts. */
const SETTLE_GRACE_MS = 600_000;

const outcomeInput = (run: Run): OutcomeInput => {
  const { deps, context, payload, toolCallId, profile } = run;
  const resultContext: ResultContext = {
    cardId: deps.ids.uuid(),
    createdAt: new Date(deps.clock.now()).toISOString(),
    projectId: context.projectId,
    agentTurnId: context.agentTurnId,
    toolCallId,
    authorId: deps.actor,
    toolName: payload.tool_name,
    afterExecution: payload.after_execution,
    functionName: payload.tool_name,
    toolCallMetadata: run.metadata,
    definitionHash: profile?.definitionHash,
    source: "tool",
  };
  return {
    context: resultContext,
    scrubber: run.scrubber,
    control: profile?.control ?? "allow",
    maxResultBytes: deps.maxResultBytes,
  };
};

const timedOut = ({ payload, profile }: Run): ToolplaneError => {
  const limit = profile === undefined ? "its deadline" : `${profile.timeoutSeconds} s`;
  const detail = { timeout_seconds: profile?.timeoutSeconds ?? null };
  return new ToolplaneError("tool_timeout", `${payload.tool_name} did not finish within ${limit}`, { detail });
};

const outcomeUnknown = ({ payload }: Run): ToolplaneError =>
  new ToolplaneError(
    "outcome_unknown",
    `the service was stopped while it ran ${payload.tool_name}; the tool may or may not have had its effect`,
  );

const release = async (run: Run): Promise<CallEnd> => {
  const { deps, toolCallId, command, payload, keeper } = run;
  const report: RunReport = { outcome: "released", toolCallId, toolName: payload.tool_name };
  if (command.lease === undefined) return { report: { ...report, outcome: "returned" } };
  keeper?.stop();
  try {
    const until = keeper?.expiresAt() ?? deps.clock.now();
    await deps.gateway.release({ toolCallId, leaseId: command.lease.id }, { until: () => until });
    return { report };
  } catch (thrown) {
    run.log.warn("a call could not be given back; its lease will lapse", { reason: understandError(thrown).message });
    return { report: { ...report, outcome: "lost" } };
  }
};

const TOO_LARGE: ReadonlySet<string> = new Set(["payload_too_large", "result_too_large"]);

/** What is said when the plane does not take a result for what it contains. */
const replaceResult = (run: Run, value: unknown, refused: ToolplaneError): ReadyResult =>
  TOO_LARGE.has(refused.code)
    ? buildTooLarge(outcomeInput(run), outcomeOf(value).result, "more than the server takes")
    : buildFailed(outcomeInput(run), refused);

const handOver = async (run: Run, result: ReadyResult, value: unknown, diagnostics?: Diagnostics): Promise<CallEnd> => {
  const { deps, context, toolCallId, command, traceparent, keeper, payload } = run;
  const startedAt = deps.clock.now();
  const to = {
    context,
    toolCallId,
    leaseId: command.lease?.id,
    traceparent,
    definitionHash: run.profile?.definitionHash,
    sessionState: sessionStateOf(value, result.content, run.scrubber),
    views: viewsOf(value, result.content, run.scrubber),
    diagnostics,
    // No signal is passed: "the call is over" may be the news of this very settlement while it is under way.
    patience: {
      until: () => (run.signal.unwanted.aborted ? 0 : Math.max(keeper?.expiresAt() ?? 0, startedAt) + SETTLE_GRACE_MS),
    },
  };
  const delivered = await deliver(result, (refused) => replaceResult(run, value, refused), to, deps);
  const { result: sent, error } = delivered;
  const end = delivered.end === "undelivered" && run.signal.unwanted.aborted ? "lost" : delivered.end;
  const { status } = sent.payload;
  // The plane ended the call as `timeout` before we did, which is the expected order.
  if (error !== undefined && !(end === "late" && status === "timeout")) {
    const log = scrubLog(run.log, run.scrubber);
    log.warn("a result was refused", { end, code: error.code, reason: error.message });
  }
  const code = (sent.content.error as JsonObject | null)?.code;
  const report: RunReport = {
    outcome: end,
    toolCallId,
    toolName: payload.tool_name,
    status,
    code: code as string | undefined,
  };
  return { report, sent: end === "settled" ? reportOf(sent, to, deps) : undefined };
};

/** Logs why a tool failed: the person who runs the service looks there first. */
const logFailure = (run: Run, { code, message }: ErrorEnvelope, diagnostics: Diagnostics | undefined): void => {
  const log = scrubLog(run.log, run.scrubber);
  log.warn("the tool failed", { tool: run.payload.tool_name, code, reason: message, stack: diagnostics?.stack });
};

const NOT_COUNTED = "; the tool was told to stop, and the result of this run does not count";

/** Why a run ended before its tool did, for the person who reads the service's log. */
const ENDED: Readonly<Record<string, string>> = {
  canceled: `the plane has ended the call: it was canceled, its time was over or its lease was lost${NOT_COUNTED}`,
  lost: `the lease was lost: the plane has ended the call or given it to another service${NOT_COUNTED}`,
  expired: `the lease has ended and the plane does not answer: another service may run the call${NOT_COUNTED}`,
  deadline: "the tool did not finish in time and was told to stop",
};

const logEnd = (run: Run, cause: string | undefined): void => {
  const words = cause === undefined ? undefined : ENDED[cause];
  if (cause === "canceled" && words !== undefined) run.log.info(words);
  else if (words !== undefined)
    run.log.warn(words, cause === "deadline" ? { timeout_seconds: run.profile?.timeoutSeconds } : {});
  if (run.leftBehind) run.log.warn("the tool ignores its signal and was left behind");
};

/** The result is built from what a tool returned; when that is not JSON, its author must hear where it is not. */
const handOverValue = (run: Run, end: Extract<RunEnd, { kind: "value" }>): Promise<CallEnd> => {
  const { value } = end;
  const built = buildValue(outcomeInput(run), value);
  const error = built.content.error as ErrorEnvelope | null;
  if (!(value instanceof PreparedResult) && error !== null) logFailure(run, error, undefined);
  return handOver(run, built, value, diagnoseEnd(end, run.scrubber));
};

/** The last words of a process that ends because of an error that no code caught. */
const finishCrashed = (run: Run, crash: Crash): Promise<CallEnd> | CallEnd => {
  const { payload, toolCallId, profile, scrubber } = run;
  const plan = planCrash(run.started, profile?.retry ?? "never", crash.culprit);
  if (plan === "release") return release(run);
  if (plan === "lapse") return { report: { outcome: "lost", toolCallId, toolName: payload.tool_name } };
  const error = crashedError(payload.tool_name, crash, (text) => scrubber.text(text));
  return handOver(run, buildFailed(outcomeInput(run), error), undefined, crash.diagnostics);
};

export const finishCall = async (run: Run, end: RunEnd): Promise<CallEnd> => {
  const { toolCallId, payload, profile, signal } = run;
  const cause = signal.cause();
  if (signal.unwanted.aborted || (end.kind === "ended" && cause === "expired")) {
    const outcome = cause === "canceled" ? "canceled" : "lost";
    logEnd(run, cause);
    if (!run.leftBehind) letGo(run);
    return { report: { outcome, toolCallId, toolName: payload.tool_name } };
  }
  if (end.kind === "value" && end.value instanceof DeferredCall) {
    run.log.info("the result of a call comes later", { holder: end.value.holder });
    return { report: { outcome: "deferred", toolCallId, toolName: payload.tool_name } };
  }
  if (end.kind === "value") return handOverValue(run, end);
  const diagnostics = diagnoseEnd(end, run.scrubber);
  if (end.kind === "error") {
    const { error } = end.failed;
    // A host or a remote API counts the same deadline and may notice it first; the call must look the same either way.
    const status = error.code === "tool_timeout" ? "timeout" : "failed";
    logFailure(run, error, diagnostics);
    return handOver(run, buildFailed(outcomeInput(run), error, status), undefined, diagnostics);
  }
  if (cause === "crashed" && run.crash !== undefined) return finishCrashed(run, run.crash);
  logEnd(run, cause);
  if (cause === "deadline")
    return handOver(run, buildFailed(outcomeInput(run), timedOut(run), "timeout"), undefined, diagnostics);
  if (planShutdown(run.started, profile?.retry ?? "never") === "release") return release(run);
  return handOver(run, buildFailed(outcomeInput(run), outcomeUnknown(run)), undefined);
};
