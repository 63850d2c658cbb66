// `toolplane run AGENT "INSTRUCTION"`: starts a turn. The plane stores the turn before it answers, so a lost connection or Ctrl-C
// ends only the watching.

import { type Body, pathOf, type RunningTurn, type RunOptions, type TurnBudget } from "@toolplane/sdk/client";
import { parseText, textOf } from "../body.ts";
import type { Command, CommandContext } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { EXIT } from "../exit-code.ts";
import { createTurnShow, type TurnShow } from "../follow-turn.ts";
import type { Flags } from "../options.ts";
import { plainText } from "../plain-text.ts";
import { resolveTurn } from "../turn-id.ts";
import { turnFailure } from "../turn-outcome.ts";
import { openPatient, withWait } from "../wait-for-call.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** Longer than a person waits for any turn. */
const FOLLOW_MS = 24 * 3_600_000;

const readCount = (text: string | undefined, flag: string): number | undefined => {
  if (text === undefined) return undefined;
  const count = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new WrongUsage(`${flag} takes a whole number from 1 on, not "${text}"`, "run");
  return count;
};

const readBudget = (flags: Flags): TurnBudget | undefined => {
  const steps = readCount(flags["max-steps"], "--max-steps");
  const tokens = readCount(flags["max-tokens"], "--max-tokens");
  const time = flags["max-time"];
  const seconds = time === undefined ? undefined : parseDuration(time, "--max-time") / 1000;
  return steps === undefined && tokens === undefined && seconds === undefined ? undefined : { steps, tokens, seconds };
};

/** What the turn begins with and may use up. */
const readAsk = async (context: CommandContext): Promise<Pick<RunOptions, "continue" | "budget">> => {
  const { flags } = context;
  const given = flags.continue;
  return { budget: readBudget(flags), continue: given === undefined ? undefined : await resolveTurn(context, given) };
};

const finish = ({ output }: CommandContext, turn: Body, said?: string): number => {
  if (output.json) output.data(turn);
  else if (turn.status !== "success") {
    if (said !== undefined) output.line("");
    output.note(turnFailure(turn, `turn ${textOf(turn, "agent_turn_id") ?? "?"}`));
  } else if (said !== undefined && said === turn.deliverable) output.line("");
  else if (typeof turn.deliverable === "string") output.line(plainText(turn.deliverable));
  else output.value(turn.deliverable ?? null);
  return turn.status === "success" ? EXIT.ok : EXIT.failed;
};

const leave = ({ output }: CommandContext, turn: Body): number => {
  const id = parseText(turn, "agent_turn_id");
  if (output.json) output.data(turn);
  const status = textOf(turn, "status");
  const state =
    status === undefined ? "had not ended when this command stopped waiting, and goes on" : `is ${status} and goes on`;
  output.note(
    `turn ${id} ${state}; to see it or to stop it, give this id to: toolplane turns show, toolplane turns stop`,
  );
  return EXIT.running;
};

/** The turn when it is over, or as it was started when the user pressed Ctrl-C. */
const endOf = async (turn: RunningTurn, signal: AbortSignal): Promise<Body> => {
  const id = await turn.id;
  return turn.ended().catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return { agent_turn_id: id, ended_at: null };
  });
};

/** Starts the turn and waits for it; a person who follows it sees its events meanwhile. */
const runAndWait = (context: CommandContext, key: string, waitMs: number, follow: boolean): Promise<number> =>
  withWait(context, waitMs, async ({ signal }) => {
    const [agent = "", instruction = ""] = context.args;
    let id: string | undefined;
    const plane = openPatient(context, () => id && `turn ${id}`);
    const turn = plane.run(agent, instruction, { key, wait: waitMs / 1000, signal, ...(await readAsk(context)) });
    id = await turn.id;
    const show: TurnShow | undefined = follow ? createTurnShow(context, plane, signal) : undefined;
    if (show !== undefined) {
      context.output.note(`turn ${id}`);
      try {
        for await (const event of turn) await show.see(event);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
    const ended = await endOf(turn, signal);
    return ended.ended_at === null ? leave(context, ended) : finish(context, ended, show?.lastText());
  });

export const runCommand: Command = {
  name: "run",
  usage: 'AGENT "INSTRUCTION"',
  least: 2,
  most: 2,
  options: ["project", "follow", "wait", "key", "continue", "max-steps", "max-tokens", "max-time"],
  summary: "give an agent a task; --follow shows steps, calls and text until it is done",
  async run(context) {
    const { client, project, args, flags, output, io } = context;
    const key = flags.key ?? `cli-${io.uuid()}`;
    if (flags.follow === true) return runAndWait(context, key, FOLLOW_MS, true);
    if (flags.wait !== undefined) return runAndWait(context, key, parseDuration(flags.wait, "--wait"), false);
    const [agent = "", instruction = ""] = args;
    const path = pathOf("projects", project, "agents", agent, "turns");
    const headers = { "idempotency-key": key };
    const body = { instruction, ...(await readAsk(context)) };
    const turn = await client.request({ method: "POST", path, body, headers });
    const id = parseText(turn, "agent_turn_id");
    if (output.json) output.data(turn);
    else output.line(`turn ${id} is ${textOf(turn, "status") ?? "queued"}; give this id to: toolplane turns show`);
    return EXIT.ok;
  },
};
