// `toolplane run AGENT "INSTRUCTION"`: starts a turn. The plane stores the turn before it answers, so a lost connection or Ctrl-C
// ends only the watching.

import { isRecord } from "@toolplane/protocol";
import { type Body, pathOf, type RunningTurn, type TurnEvent } from "@toolplane/sdk/client";
import { parseText, textOf } from "../body.ts";
import type { Command, CommandContext } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { EXIT } from "../exit-code.ts";
import { oneLine, plainText } from "../plain-text.ts";
import { openPatient, withWait } from "../wait-for-call.ts";

/** Longer than a person waits for any turn. */
const FOLLOW_MS = 24 * 3_600_000;

interface Show {
  see(event: TurnEvent): void;
  /** What the model said last, which is often what it delivers. */
  lastText(): string;
}

/** What a person sees of one event; text of the model is written as it comes, everything else on a line of its own. */
const createShow = ({ output, io }: CommandContext): Show => {
  let midLine = false;
  let said = "";
  const line = (text: string): void => {
    if (midLine) io.stdout.write("\n");
    midLine = false;
    output.line(oneLine(text));
  };
  const see = (event: TurnEvent): void => {
    if (output.json) {
      output.data({ subject: event.source.subject, payload: event.source.payload });
      return;
    }
    if (event.type === "step") line(`· ${event.stepId || "step"} ${event.phase}`);
    if (event.type === "part") line(`  … ${JSON.stringify(event.part ?? null)}`);
    if (event.type === "step" && event.phase === "started") said = "";
    if (event.type !== "text" || event.text === "") return;
    io.stdout.write(plainText(event.text));
    said += event.text;
    midLine = !event.text.endsWith("\n");
  };
  return { see, lastText: () => said };
};

const finish = ({ output }: CommandContext, turn: Body, said?: string): number => {
  if (output.json) output.data(turn);
  else if (said !== undefined && said === turn.deliverable) output.line("");
  else if (typeof turn.deliverable === "string") output.line(plainText(turn.deliverable));
  else output.value(turn.deliverable ?? null);
  const error = isRecord(turn.error) ? turn.error : undefined;
  if (error !== undefined) output.note(`${String(error.code)}: ${String(error.message)}`);
  return turn.status === "success" ? EXIT.ok : EXIT.failed;
};

const leave = ({ output }: CommandContext, turn: Body): number => {
  const id = parseText(turn, "agent_turn_id");
  if (output.json) output.data(turn);
  output.note(
    `turn ${id} is ${textOf(turn, "status") ?? "running"} and goes on; see it with: toolplane turns show ${id}, stop it with: toolplane turns stop ${id}`,
  );
  return EXIT.running;
};

/** The turn when it is over, or as it was started when the user pressed Ctrl-C. */
const endOf = async (turn: RunningTurn, signal: AbortSignal): Promise<Body> => {
  const id = await turn.id;
  return turn.ended().catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return { agent_turn_id: id, status: "running", ended_at: null };
  });
};

/** Starts the turn and waits for it; `show` gets its events meanwhile. */
const runAndWait = (context: CommandContext, key: string, waitMs: number, show: Show | undefined): Promise<number> =>
  withWait(context, waitMs, async ({ signal }) => {
    const [agent = "", instruction = ""] = context.args;
    let id: string | undefined;
    const plane = openPatient(context, () => id && `turn ${id}`);
    const turn = plane.run(agent, instruction, { key, wait: waitMs / 1000, signal });
    id = await turn.id;
    if (show !== undefined) {
      context.output.note(`turn ${id}`);
      try {
        for await (const event of turn) show.see(event);
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
  options: ["project", "follow", "wait", "key"],
  summary: "give an agent a task; --follow shows steps and text until it is done",
  async run(context) {
    const { client, project, args, flags, output, io } = context;
    const key = flags.key ?? `cli-${io.uuid()}`;
    if (flags.follow === true) return runAndWait(context, key, FOLLOW_MS, createShow(context));
    if (flags.wait !== undefined) return runAndWait(context, key, parseDuration(flags.wait, "--wait"), undefined);
    const [agent = "", instruction = ""] = args;
    const path = pathOf("projects", project, "agents", agent, "turns");
    const headers = { "idempotency-key": key };
    const turn = await client.request({ method: "POST", path, body: { instruction }, headers });
    const id = parseText(turn, "agent_turn_id");
    if (output.json) output.data(turn);
    else output.line(`turn ${id} is ${textOf(turn, "status") ?? "queued"}; see it with: toolplane turns show ${id}`);
    return EXIT.ok;
  },
};
