// `toolplane run AGENT "INSTRUCTION"`: starts a turn. The turn is written down before this command hears of it, so a lost
// connection or Ctrl-C ends only the watching.

import { isRecord, tryParseJsonStrict } from "@toolplane/protocol";
import { parseText, textOf } from "../body.ts";
import { type Body, pathOf } from "../client.ts";
import type { Command, CommandContext } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { readEvents } from "../event-stream.ts";
import { EXIT } from "../exit-code.ts";
import { oneLine } from "../plain-text.ts";
import { mayPass, type Wait, withWait } from "../wait-for-call.ts";

/** One question to the server; short enough that Ctrl-C and a restart of the server are noticed. */
const SLICE_MS = 10_000;
const AWAY_MS = 500;
/** Longer than any turn is waited for by a person. */
const FOLLOW_MS = 24 * 3_600_000;

const turnPath = (project: string, id: string): string => pathOf("projects", project, "turns", id);

/** The turn as it is when it is over, when the time is, or when somebody pressed Ctrl-C. */
const waitForTurn = async (context: CommandContext, turn: Body, { untilMs, signal }: Wait): Promise<Body> => {
  const { io, client, project } = context;
  const id = parseText(turn, "agent_turn_id");
  let known = turn;
  while (known.ended_at === null && !signal.aborted) {
    const waitMs = Math.min(untilMs - io.now(), SLICE_MS);
    if (waitMs <= 0) break;
    try {
      const query = { wait_seconds: waitMs / 1000 };
      known = await client.request({ path: turnPath(project, id), query, signal, waitMs });
    } catch (error) {
      if (signal.aborted) break;
      if (!mayPass(error)) throw error;
      await io.sleep(AWAY_MS, signal);
    }
  }
  return known;
};

interface Seen {
  readonly subject: string;
  readonly payload: Body;
}

const parseSeen = (data: string): Seen | undefined => {
  const body = tryParseJsonStrict(data, { maxBytes: Number.POSITIVE_INFINITY });
  if (!isRecord(body) || typeof body.subject !== "string" || !isRecord(body.payload)) return undefined;
  return { subject: body.subject, payload: body.payload };
};

interface Show {
  see(seen: Seen): void;
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
  const see = ({ subject, payload }: Seen): void => {
    if (output.json) {
      output.data({ subject, payload });
      return;
    }
    const kind = subject.split(".").at(-1);
    if (kind === "step") line(`· ${textOf(payload, "step_id") ?? "step"} ${textOf(payload, "phase") ?? ""}`);
    if (kind === "part") line(`  … ${JSON.stringify(payload.part ?? null)}`);
    if (kind === "step" && payload.phase === "started") said = "";
    const text = kind === "chunk" && payload.chunk_type === "content" ? textOf(payload, "content") : undefined;
    if (text === undefined) return;
    io.stdout.write(text);
    said += text;
    midLine = !text.endsWith("\n");
  };
  return { see, lastText: () => said };
};

/** Shows what belongs to the turn until the signal ends it; a stream that breaks is simply over. */
const showEvents = async (show: Show, response: Response, turnId: () => string | undefined): Promise<void> => {
  const early: Seen[] = [];
  try {
    for await (const event of response.body === null ? [] : readEvents(response.body)) {
      const seen = parseSeen(event.data);
      if (seen !== undefined) early.push(seen);
      const id = turnId();
      if (id === undefined) continue;
      for (const one of early.splice(0)) if (one.payload.agent_turn_id === id) show.see(one);
    }
  } catch {
    // Given up, or the connection broke; the turn itself is asked for separately.
  }
};

const finish = ({ output }: CommandContext, turn: Body, said?: string): number => {
  if (output.json) output.data(turn);
  else if (said !== undefined && said === turn.deliverable) output.line("");
  else if (typeof turn.deliverable === "string") output.line(turn.deliverable);
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

const follow = (context: CommandContext, start: () => Promise<Body>): Promise<number> =>
  withWait(context, FOLLOW_MS, async (wait) => {
    const { client, project } = context;
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, wait.signal]);
    // Listening begins before the turn does: nothing of it is missed.
    const headers = { accept: "text/event-stream" };
    const response = await client.open({ path: pathOf("projects", project, "events"), headers, signal });
    let id: string | undefined;
    const show = createShow(context);
    const shown = showEvents(show, response, () => id);
    try {
      const turn = await start();
      id = parseText(turn, "agent_turn_id");
      context.output.note(`turn ${id}`);
      const ended = await waitForTurn(context, turn, wait);
      return ended.ended_at === null ? leave(context, ended) : finish(context, ended, show.lastText());
    } finally {
      over.abort();
      await shown;
    }
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
    const [agent = "", instruction = ""] = args;
    const headers = { "idempotency-key": flags.key ?? `cli-${io.uuid()}` };
    const path = pathOf("projects", project, "agents", agent, "turns");
    const start = () => client.request({ method: "POST", path, body: { instruction }, headers });
    if (flags.follow === true) return follow(context, start);
    const turn = await start();
    if (flags.wait !== undefined)
      return withWait(context, parseDuration(flags.wait, "--wait"), async (wait) => {
        const ended = await waitForTurn(context, turn, wait);
        return ended.ended_at === null ? leave(context, ended) : finish(context, ended);
      });
    const id = parseText(turn, "agent_turn_id");
    if (output.json) output.data(turn);
    else output.line(`turn ${id} is ${textOf(turn, "status") ?? "queued"}; see it with: toolplane turns show ${id}`);
    return EXIT.ok;
  },
};
