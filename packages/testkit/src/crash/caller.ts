// Those who ask for calls: each item once, however often the process is restarted. What has a key or an id (or names its
// step, or its dead letter) is asked again after a restart and must turn out to be the same; what has none is not repeated.

import { createIds, type Engine } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import { ATTIC_PROJECT, CRASH_PROJECT } from "./crash-seed.ts";
import { insist, isAway } from "./insist.ts";
import { CALL_SHAPES, type CallKind, type CallShape, type Item, NAMED_KINDS, STEP_KINDS } from "./item.ts";
import type { Journal } from "./journal.ts";
import { replayLetterOf } from "./replay-letter.ts";

export interface CallerOptions {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  /** Items under way at once. */
  readonly inFlight: number;
}

const projectOf = (kind: CallKind): string => (kind === "attic" ? ATTIC_PROJECT : CRASH_PROJECT);

export const createCaller = ({ engine, journal, signal, inFlight }: CallerOptions) => {
  const ids = createIds();
  const asked = new Map<string, string | undefined>();
  const accepted = new Map<string, string>();
  for (const line of journal.lines()) {
    if (line.what === "asked") asked.set(line.item, line.call);
    if (line.what === "accepted") accepted.set(line.item, line.call);
  }

  const accept = (item: string, kind: CallKind, call: string): void => {
    accepted.set(item, call);
    const { outcomes } = CALL_SHAPES[kind];
    journal.write({ what: "accepted", item, project: projectOf(kind), call, outcomes });
  };

  const askWithKey = async (item: Item, shape: CallShape): Promise<void> => {
    const request = {
      projectId: CRASH_PROJECT,
      toolName: shape.toolName,
      arguments: { way: shape.way, item: item.id },
      idempotencyKey: item.id,
    };
    // Twice at once: a caller that was impatient.
    const twice = await insist(
      () => Promise.all([engine.calls.dispatch(request), engine.calls.dispatch(request)]),
      signal,
    );
    for (const { toolCallId } of twice ?? []) accept(item.id, "keyed", toolCallId);
  };

  /** The id is written down before it is used; asked again with it, the call is the same. */
  const askWithId = async (item: Item, kind: CallKind, shape: CallShape): Promise<void> => {
    const toolCallId = asked.get(item.id) ?? ids.uuid();
    if (!asked.has(item.id)) journal.write({ what: "asked", item: item.id, call: toolCallId });
    const request = { projectId: projectOf(kind), toolName: shape.toolName, toolCallId };
    const made = await insist(
      () => engine.calls.dispatch({ ...request, arguments: { way: shape.way, item: item.id } }),
      signal,
    );
    if (made !== undefined) accept(item.id, kind, made.toolCallId);
  };

  /** Without a key a failure is not repeated: the caller cannot know whether it happened. */
  const askOnce = async (item: Item, kind: CallKind, shape: CallShape): Promise<void> => {
    if (asked.has(item.id)) return;
    journal.write({ what: "asked", item: item.id });
    try {
      const { toolCallId } = await engine.calls.dispatch({
        projectId: projectOf(kind),
        toolName: shape.toolName,
        arguments: { way: shape.way, item: item.id },
      });
      accept(item.id, kind, toolCallId);
    } catch (error) {
      if (!isAway(error)) throw error;
    }
  };

  const askStep = async (item: Item): Promise<void> => {
    const agentId = `agent_${item.number + 1}`;
    const origin = {
      projectId: CRASH_PROJECT,
      agentId,
      channelId: "public",
      agentTurnId: `turn_of_${agentId}`,
      turnEpoch: 1,
      stepId: `step_of_${agentId}`,
      recursionDepth: 0,
    };
    const calls = STEP_KINDS.map((kind) => ({
      toolName: CALL_SHAPES[kind].toolName,
      arguments: { way: CALL_SHAPES[kind].way, item: item.id },
    }));
    try {
      const step = await insist(() => engine.calls.dispatchStep({ origin, calls }), signal);
      for (const [index, { toolCallId }] of (step?.calls ?? []).entries())
        accept(`${item.id}.${index}`, STEP_KINDS[index] ?? "safe", toolCallId);
    } catch (error) {
      // The head has moved on: the step was dispatched before the answer, or the process, was lost.
      if (!isToolplaneError(error) || error.code !== "conflict") throw error;
    }
  };

  const cancelAccepted = async (item: Item): Promise<void> => {
    const toolCallId = accepted.get(item.id);
    if (toolCallId === undefined) return;
    const done = await insist(() => engine.calls.cancel({ projectId: CRASH_PROJECT, toolCallId }), signal);
    if (done?.canceled === true) journal.write({ what: "canceled", call: toolCallId });
  };

  const decideAccepted = async (item: Item, verdict: "approve" | "deny"): Promise<void> => {
    const toolCallId = accepted.get(item.id);
    if (toolCallId === undefined) return;
    const key = { projectId: CRASH_PROJECT, toolCallId, by: "a person" };
    await insist(() => engine.approvals[verdict](key), signal);
  };

  const ask = async (item: Item): Promise<void> => {
    if (item.kind === "event" || item.kind === "command") return;
    if (item.kind === "step") return askStep(item);
    const shape = CALL_SHAPES[item.kind];
    if (item.kind === "keyed") return askWithKey(item, shape);
    await (NAMED_KINDS.has(item.kind) ? askWithId : askOnce)(item, item.kind, shape);
    const call = accepted.get(item.id);
    if (item.kind === "cancel") await cancelAccepted(item);
    if (item.kind === "allowed") await decideAccepted(item, "approve");
    if (item.kind === "denied") await decideAccepted(item, "deny");
    if (item.kind === "silent" && call !== undefined) await replayLetterOf({ engine, journal, signal }, call);
  };

  /** Forgets what the attic has settled; the calls of one run, so the first round is the last. */
  const forgetAttic = async (items: readonly Item[]): Promise<void> => {
    const calls = items.filter(({ kind }) => kind === "attic").map(({ id }) => accepted.get(id));
    if (calls.length === 0) return;
    for (const toolCallId of calls) {
      if (toolCallId === undefined) continue;
      const key = { projectId: ATTIC_PROJECT, toolCallId };
      // Forgotten by an earlier life of this run, or settled.
      while (!signal.aborted && (await insist(() => engine.calls.find([key]), signal))?.length === 1)
        if (await engine.calls.wait(key, 1_000, signal)) break;
    }
    await insist(() => engine.retain({ seconds: 0 }, ATTIC_PROJECT), signal);
  };

  return {
    async run(items: readonly Item[]): Promise<void> {
      const queue = items.values();
      const worker = async (): Promise<void> => {
        for (const item of queue) {
          if (signal.aborted) return;
          await ask(item);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, worker));
      await forgetAttic(items);
    },
  };
};
