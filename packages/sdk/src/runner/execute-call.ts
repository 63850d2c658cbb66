// From an accepted command to the end of its tool: reads and checks the card, injects secrets, runs the tool.
// Nothing here rejects: every failure is returned as the way the run ended.

import {
  type ErrorEnvelope,
  normaliseError,
  type ToolDefinition,
  ToolplaneError,
  understandError,
} from "@toolplane/protocol";
import type { Patience } from "../gateway/gateway.ts";
import { createScrubber, scrubLog } from "../secrets/scrubber.ts";
import { injectSecrets, planSecrets, readSecrets } from "../secrets/secret-source.ts";
import { type RunEnd, runAttempts } from "./attempts.ts";
import { planDefinitionRef } from "./definition-memory.ts";
import type { ToolCall, ToolProfile } from "./executor.ts";
import { type HydratedCall, hydrate, recoverMetadata } from "./hydrate.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import { letGo } from "./let-go.ts";
import { createParts } from "./parts.ts";
import { checkPin } from "./plan-run.ts";
import { raceAbort } from "./run-signal.ts";
import type { Run } from "./run-state.ts";

const readCall = async (run: Run): Promise<HydratedCall> => {
  const { deps, command, context, payload, toolCallId, deadline, signal } = run;
  const patience: Patience = { signal: signal.signal, until: () => deadline };
  const ref = { cardId: payload.tool_call_card_id, toolCallId };
  const found = command.card ?? (await raceAbort(deps.gateway.readCard(ref, patience), signal.signal));
  run.metadata = recoverMetadata(found);
  return hydrate({ found, context, payload, toolCallId });
};

/** For an executor that runs definitions: the version that the call was made with, and its profile. */
const readPinned = async (run: Run, { card }: HydratedCall): Promise<ToolDefinition | undefined> => {
  const { deps, payload, signal, deadline } = run;
  const { executor } = deps;
  if (executor.profileOf === undefined) return undefined;
  const patience: Patience = { signal: signal.signal, until: () => deadline };
  const ref = planDefinitionRef(payload.tool_name, card.metadata);
  const pinned = await raceAbort(deps.definitions.read(ref, deps.gateway, patience), signal.signal);
  run.profile = executor.profileOf(pinned);
  return pinned.definition;
};

const requireProfile = (run: Run): ToolProfile => {
  if (run.profile !== undefined) return run.profile;
  throw new ToolplaneError(
    "not_found",
    `the service of target ${run.deps.target} has no tool ${run.payload.tool_name}`,
  );
};

const execute = async (run: Run, hydrated: HydratedCall): Promise<RunEnd> => {
  const { deps, signal, toolCallId, command, payload } = run;
  const definition = await readPinned(run, hydrated);
  const profile = requireProfile(run);
  if (command.lease === undefined) checkPin(profile, hydrated.card.metadata);
  const needs = planSecrets(profile, hydrated.card.metadata, deps.envs);
  const values = await raceAbort(readSecrets(needs, deps.secrets), signal.signal);
  if (values.size > 0) run.scrubber = createScrubber(new Map([...deps.ownSecrets, ...values]));
  const log = scrubLog(run.log, run.scrubber);
  const leaseId = command.lease?.id;
  const call: Omit<ToolCall, "attempt"> = {
    toolName: payload.tool_name,
    subject: command.subject,
    toolCallId,
    context: hydrated.context,
    afterExecution: payload.after_execution,
    card: hydrated.card,
    arguments: injectSecrets(hydrated.arguments, needs, values),
    traceparent: run.traceparent,
    deadline: run.deadline,
    session: command.session,
    definition,
    leaseId,
  };
  const parts = createParts({
    gateway: deps.gateway,
    log,
    scrubber: run.scrubber,
    context: run.context,
    toolCallId,
    leaseId,
  });
  const context = {
    signal: signal.signal,
    emit: parts.emit,
    heartbeat: async () => void (await run.keeper?.beat()),
    log,
    idempotencyKey: idempotencyKey(run.context, payload.tool_name, deps.sha256),
    secrets: Object.freeze(Object.fromEntries(values)),
    scrub: (text: string) => run.scrubber.text(text),
  };
  // Runs of services that lost the call before.
  const before = (command.attempt ?? 1) - 1;
  run.started = true;
  try {
    return await runAttempts({
      execute: (attempt) => deps.executor.execute({ ...call, attempt: attempt + before }, context),
      signal: signal.signal,
      retry: profile.retry,
      maxAttempts: profile.isRetriedByPlane === true || command.once === true ? 1 : deps.maxAttempts,
      deadline: run.deadline,
      clock: deps.clock,
      random: deps.random,
      scrub: context.scrub,
      onLeftBehind: (running) => {
        // Logged after the reason why it was told to stop (finish-call.ts).
        run.leftBehind = running;
        if (running) return;
        log.warn("a tool that was left behind has ended");
        letGo(run);
      },
      onRetry: (attempt, { code, message }, waitMs) =>
        log.warn("the tool failed and is tried again", { attempt, code, reason: message, wait_ms: waitMs }),
    });
  } finally {
    parts.close();
  }
};

const toEnvelope = (thrown: unknown): ErrorEnvelope => normaliseError(understandError(thrown), { source: "tool" });

export const executeCall = async (run: Run): Promise<RunEnd> => {
  try {
    return await execute(run, await readCall(run));
  } catch (thrown) {
    if (run.signal.signal.aborted) return { kind: "ended", tries: 0 };
    return { kind: "error", failed: { error: toEnvelope(thrown), thrown }, tries: 0 };
  }
};
