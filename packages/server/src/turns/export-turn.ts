// A turn with everything it was given and made, to keep or to check elsewhere: the turn, its steps, its calls and its cards. Long turns
// come in pages: the first has the turn, its steps and its calls, every page has as many cards as fit into an answer.

import { cursorOf, type Engine, keyOfCursor, notThere, type TurnView } from "@toolplane/engine";
import { distinctIds, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { callBody, callDetail } from "../calls/call-body.ts";
import { type StoredCard, storedCardBody } from "../cards/card-body.ts";
import { showCards } from "../cards/shown-cards.ts";
import { type BodyOf, text, textOrNull } from "../http/answers.ts";
import type { Own } from "../http/own.ts";
import { stepBody, stepFields, turnBody, turnShape } from "./turn-body.ts";

export const turnExportBody = z
  .strictObject({
    format: z.literal("toolplane.turn.1"),
    project_id: text,
    turn: turnShape,
    steps: z.array(z.strictObject(stepFields)).optional(),
    calls: z.array(callBody).optional(),
    boxes: z.strictObject({ context: z.array(text), output: z.array(text) }).optional(),
    cards: z.array(storedCardBody),
    next_cursor: textOrNull.meta({ description: "Send it as `cursor` for further cards; null on the last page." }),
  })
  .meta({ id: "TurnExport" });

export interface ExportAsk {
  readonly engine: Pick<Engine, "turns" | "calls" | "boxes" | "cards" | "history" | "definitions">;
  readonly own: Own;
  readonly projectId: string;
  readonly agentTurnId: string;
  readonly cursor: string | undefined;
}

/** Where the next page begins, in the list of the turn's cards. */
const startOf = (cursor: string | undefined): number => {
  if (cursor === undefined) return 0;
  const key = keyOfCursor(cursor);
  if (!/^\d{1,9}$/.test(key))
    throw new ToolplaneError("bad_request", "cursor does not come from this list; use next_cursor of the page before", {
      detail: { path: "$.cursor" },
    });
  return Number(key);
};

const boxIds = async ({ engine, own, projectId }: ExportAsk, turn: TurnView) => {
  const read = async (boxId: string): Promise<readonly string[]> => {
    const ids = (await engine.boxes.loadBox(projectId, boxId))?.cardIds ?? [];
    const visible = await own.among("card", distinctIds(ids));
    return ids.filter((id) => visible.has(id));
  };
  return { context: await read(turn.contextBoxId), output: await read(turn.outputBoxId) };
};

const story = async ({ engine, projectId }: ExportAsk, turn: TurnView) => {
  const taken = await engine.turns.steps(turn);
  const callIds = distinctIds(taken.flatMap(({ toolCallIds }) => toolCallIds));
  const calls = await engine.calls.find(callIds.map((toolCallId) => ({ projectId, toolCallId })));
  const steps = taken.map(stepBody);
  return { steps, calls: calls.map((call) => callDetail(call, undefined)) };
};

export const exportTurn = async (ask: ExportAsk): Promise<BodyOf<typeof turnExportBody>> => {
  const { engine, projectId, agentTurnId, cursor } = ask;
  const key = { projectId, agentTurnId };
  const turn = await engine.turns.get(key);
  if (turn === undefined) throw notThere("turn", agentTurnId, await engine.history.tombstone(key));
  const start = startOf(cursor);
  const boxes = await boxIds(ask, turn);
  const all = distinctIds([...boxes.context, ...boxes.output]);
  const fitting = await engine.cards.firstThatFit(projectId, all.slice(start));
  const end = start + fitting.length;
  const cards = await engine.cards.getCards(projectId, fitting);
  return {
    format: "toolplane.turn.1",
    project_id: projectId,
    turn: turnBody(turn),
    ...(start === 0 ? { ...(await story(ask, turn)), boxes } : {}),
    cards: (await showCards(engine, projectId, cards)) as readonly StoredCard[],
    next_cursor: fitting.length > 0 && end < all.length ? cursorOf(String(end)) : null,
  };
};
