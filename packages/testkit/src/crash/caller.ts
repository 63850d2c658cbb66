// The callers of a crash run: each item is asked for once, however often the process is restarted. An item with a key or an id
// (or the name of its dead letter) is asked for again after a restart and must turn out to be the same; an item without is not
// repeated.

import { createIds, type Engine, isAway } from "@toolplane/engine";
import { ATTIC_PROJECT, CRASH_PROJECT } from "./crash-seed.ts";
import { insist } from "./insist.ts";
import { acceptedLine, CALL_SHAPES, type CallKind, type CallShape, type Item, NAMED_KINDS, projectOf } from "./item.ts";
import type { Journal } from "./journal.ts";
import { replayLetterOf } from "./replay-letter.ts";

export interface CallerOptions {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  /** Items under way at once. */
  readonly inFlight: number;
}

/** How long to wait before asking again whether the database is still there. */
const WAIT_MS = 1_000;

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
    journal.write(acceptedLine(item, kind, call));
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

  /** The id is written to the journal before it is used; asked for again with it, the call is the same. */
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

  /** A turn of an agent until its end; the worker that is rung takes its step. */
  const askTurn = async (item: Item): Promise<void> => {
    const request = {
      projectId: CRASH_PROJECT,
      agentId: `agent_${item.number + 1}`,
      sourceAgentId: "sys.crash",
      context: { instruction: item.id },
      correlationId: item.id,
      metadata: { item: item.id },
    };
    const made = await insist(() => engine.turns.spawn(request), signal);
    if (made === undefined) return;
    journal.write({ what: "spawned", item: item.id, turn: made.agentTurnId });
    while (!signal.aborted) {
      const turn = await insist(() => engine.turns.wait(made, WAIT_MS, signal), signal);
      if (turn === undefined || turn.endedAt !== null) return;
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
    if (item.kind === "step") return askTurn(item);
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
