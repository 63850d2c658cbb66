// `toolplane turns ...`: what agents did and do.

import { ToolplaneError } from "@toolplane/protocol";
import { type Body, pathOf } from "@toolplane/sdk/client";
import { cellOf, itemsOf, parseText, shortTime, textOf } from "../body.ts";
import type { Command, CommandContext } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { EXIT } from "../exit-code.ts";
import { showPage } from "../page.ts";

const LAST = "last";

/** Which turn: its id, or `last` for the newest one of the project. */
const resolveTurnId = async ({ args, client, project }: CommandContext): Promise<string> => {
  const given = args[0] ?? "";
  if (given !== LAST) return given;
  const [newest] = itemsOf(await client.request({ path: pathOf("projects", project, "turns"), query: { limit: 1 } }));
  if (newest === undefined) throw new ToolplaneError("not_found", `project ${project} has no turns yet`);
  return parseText(newest, "agent_turn_id");
};

const list: Command = {
  name: "turns list",
  usage: "",
  least: 0,
  most: 0,
  options: ["project", "agent", "status", "limit", "cursor"],
  summary: "list turns, newest first",
  async run(context) {
    const { client, project, flags } = context;
    const query = { agent_id: flags.agent, status: flags.status, limit: flags.limit, cursor: flags.cursor };
    showPage(context, await client.request({ path: pathOf("projects", project, "turns"), query }), {
      empty: `project ${project} has no such turns; start one with: toolplane run AGENT "INSTRUCTION"`,
      columns: [
        { title: "TURN", value: (turn) => textOf(turn, "agent_turn_id") },
        { title: "STATUS", value: (turn) => textOf(turn, "status") },
        { title: "AGENT", value: (turn) => textOf(turn, "agent_id") },
        { title: "STEPS", value: (turn) => cellOf(turn, "step_count") },
        { title: "WAITS FOR", value: (turn) => cellOf(turn, "waiting_tool_count") },
        { title: "CREATED", value: (turn) => shortTime(turn, "created_at") },
      ],
    });
    return EXIT.ok;
  },
};

const showTurn = ({ output }: CommandContext, turn: Body): void => {
  if (output.json) {
    output.data(turn);
    return;
  }
  output.fields([
    ["turn", turn.agent_turn_id],
    ["status", turn.status],
    ["agent", turn.agent_id],
    ["steps", turn.step_count],
    ["why", turn.why],
    ["what to do", turn.todo],
    ["parent", turn.parent_agent_turn_id],
    ["depth", turn.recursion_depth],
    ["trace", turn.trace_id],
    ["context box", turn.context_box_id],
    ["output box", turn.output_box_id],
    ["created", turn.created_at],
    ["ended", turn.ended_at],
    ["error", turn.error],
  ]);
  for (const step of itemsOf({ items: turn.steps })) {
    const calls = Array.isArray(step.tool_call_ids) ? step.tool_call_ids : [];
    output.line(`  ${textOf(step, "step_id") ?? "?"}  ${textOf(step, "status") ?? "?"}  ${calls.join(" ")}`.trimEnd());
  }
  if (turn.ended_at !== null) output.value({ deliverable: turn.deliverable ?? null });
};

const show: Command = {
  name: "turns show",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project", "wait"],
  summary: "show one turn with its steps (the id last is the newest one)",
  async run(context) {
    const { client, project, flags } = context;
    const id = await resolveTurnId(context);
    const waitMs = flags.wait === undefined ? 0 : parseDuration(flags.wait, "--wait");
    const query = waitMs === 0 ? {} : { wait_seconds: waitMs / 1000 };
    const turn = await client.request({ path: pathOf("projects", project, "turns", id), query, waitMs });
    showTurn(context, turn);
    return flags.wait !== undefined && turn.ended_at === null ? EXIT.running : EXIT.ok;
  },
};

const stop: Command = {
  name: "turns stop",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project", "reason"],
  summary: "end a turn now; its open calls are canceled",
  async run(context) {
    const { client, project, flags, output } = context;
    const id = await resolveTurnId(context);
    const body = flags.reason === undefined ? {} : { reason: flags.reason };
    const path = pathOf("projects", project, "turns", id, "stop");
    const answer = await client.request({ method: "POST", path, body });
    if (output.json) output.data(answer);
    else if (answer.stopped === true) output.line(`stopped ${id}`);
    else output.line(`turn ${id} was over before: ${textOf(answer, "status") ?? "ended"}`);
    return EXIT.ok;
  },
};

export const turnsCommands: readonly Command[] = [list, show, stop];
