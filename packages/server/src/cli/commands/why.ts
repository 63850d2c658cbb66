// `toolplane why`: where a call or a turn is and what it waits for. A turn is known by the beginning of its id.

import { isRecord, isToolplaneError } from "@toolplane/protocol";
import { type Body, pathOf } from "@toolplane/sdk/client";
import { cellOf, textOf } from "../body.ts";
import { resolveCallId } from "../call-id.ts";
import type { Command, CommandContext } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { oneLine } from "../plain-text.ts";
import { shortValue } from "../show-turn.ts";
import { spanOf } from "../time-text.ts";
import { toneOf } from "../tone.ts";
import { turnFailure, turnStatus } from "../turn-outcome.ts";

const TURN_PREFIX = "turn_";

/** Where the sentence begins; the word in colour is the status. */
const say = ({ output }: CommandContext, what: string, status: string, why: string): void => {
  const [before, after] = [oneLine(`${what} is`), oneLine(why)];
  output.line(`${before} ${output.paint(toneOf(status), oneLine(status))}: ${after}`);
};

const showCallAnswer = (context: CommandContext, id: string, answer: Body): void => {
  const { output } = context;
  say(context, `call ${id}`, textOf(answer, "status") ?? "?", textOf(answer, "why") ?? "?");
  const todo = textOf(answer, "todo");
  if (todo !== undefined) output.line(oneLine(`what to do: ${todo}`));
  if (!isRecord(answer.facts)) return;
  const { arguments: given, ...facts } = answer.facts;
  output.fields([
    ...(given === undefined ? [] : [["arguments", shortValue(given)] as const]),
    ...Object.entries(facts).filter(([, value]) => value !== null),
  ]);
};

const whyTurn = (turn: Body): string => {
  const waiting = textOf(turn, "why");
  if (turn.ended_at === null) return waiting ?? "it goes on";
  const took = spanOf(turn, "created_at", "ended_at") ?? "?";
  if (turn.status === "success") return `it ended after ${cellOf(turn, "step_count") ?? 0} steps in ${took}`;
  return turnFailure(turn);
};

const showTurnAnswer = (context: CommandContext, id: string, turn: Body): void => {
  const { output } = context;
  if (output.json) {
    const { agent_turn_id, status, agent_id, why, todo, step_count, waiting_tool_count, error } = turn;
    output.data({
      agent_turn_id,
      status,
      agent_id,
      why: why ?? whyTurn(turn),
      todo,
      step_count,
      waiting_tool_count,
      error,
    });
    return;
  }
  say(context, `turn ${id}`, turnStatus(turn), whyTurn(turn));
  const todo = textOf(turn, "todo");
  if (todo !== undefined) output.line(oneLine(`what to do: ${todo}`));
};

/** A direct call has a turn of its own that no list shows: its id is the call's. */
const explainTurn = async (context: CommandContext, id: string): Promise<void> => {
  const { client, project } = context;
  const turn = await client.request({ path: pathOf("projects", project, "turns", id) }).catch((error: unknown) => {
    if (isToolplaneError(error) && error.code === "not_found") return undefined;
    throw error;
  });
  if (turn === undefined) await explainCall(context, id.slice(TURN_PREFIX.length), id);
  else showTurnAnswer(context, id, turn);
};

const explainCall = async (context: CommandContext, id: string, asked = id): Promise<void> => {
  const answer = await context
    .openPlane()
    .why(id)
    .catch((error: unknown) => {
      if (asked !== id && isToolplaneError(error) && error.code === "not_found")
        throw Object.assign(error, { message: `there is no turn ${oneLine(asked)} in this project` });
      throw error;
    });
  if (context.output.json) context.output.data(answer);
  else showCallAnswer(context, id, answer);
};

export const whyCommand: Command = {
  name: "why",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "explain where a call or a turn is and what it waits for",
  async run(context) {
    const id = await resolveCallId(context);
    await (id.startsWith(TURN_PREFIX) ? explainTurn(context, id) : explainCall(context, id));
    return EXIT.ok;
  },
};
