// `toolplane turns ...`: what agents did and do.

import { pathOf } from "@toolplane/sdk/client";
import { TURN_STATUSES } from "../../http/statuses.ts";
import { cellOf, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { EXIT } from "../exit-code.ts";
import { listCommand } from "../list-command.ts";
import { filterQuery, LIST_FILTERS } from "../list-filters.ts";
import { showTurn } from "../show-turn.ts";
import { toneOf } from "../tone.ts";
import { resolveTurnId } from "../turn-id.ts";
import { turnStatus } from "../turn-outcome.ts";

const list = listCommand({
  name: "turns list",
  options: ["project", ...LIST_FILTERS],
  statuses: TURN_STATUSES,
  summary: "list turns, newest first",
  path: ({ project }) => pathOf("projects", project, "turns"),
  query: filterQuery,
  empty: ({ project }) => `project ${project} has no such turns; start one with: toolplane run AGENT "INSTRUCTION"`,
  columns: [
    { title: "TURN", value: (turn) => textOf(turn, "agent_turn_id") },
    { title: "STATUS", value: turnStatus, tone: (turn) => toneOf(turnStatus(turn)) },
    { title: "AGENT", value: (turn) => textOf(turn, "agent_id") },
    { title: "STEPS", value: (turn) => cellOf(turn, "step_count") },
    { title: "WAITS FOR", value: (turn) => cellOf(turn, "waiting_tool_count") },
    { title: "CREATED", value: (turn) => shortTime(turn, "created_at") },
  ],
});

const show: Command = {
  name: "turns show",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project", "wait"],
  summary: "show what a turn was asked, thought, called and delivered (the id last is the newest one)",
  async run(context) {
    const { client, project, flags } = context;
    const id = await resolveTurnId(context);
    const waitMs = flags.wait === undefined ? 0 : parseDuration(flags.wait, "--wait");
    const query = { detail: "full", ...(waitMs === 0 ? {} : { wait_seconds: waitMs / 1000 }) };
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

const exportOne: Command = {
  name: "turns export",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "print a turn with its steps, calls and cards as one JSON document",
  async run(context) {
    const { client, project, output } = context;
    const id = await resolveTurnId(context);
    const path = pathOf("projects", project, "turns", id, "export");
    const first = await client.request({ path });
    const cards: unknown[] = [];
    // Long turns come in pages; only the first has more than cards.
    for (let page = first; ; ) {
      cards.push(...(Array.isArray(page.cards) ? page.cards : []));
      const cursor = textOf(page, "next_cursor");
      if (cursor === undefined || cursor === "") break;
      page = await client.request({ path, query: { cursor } });
    }
    output.data({ ...first, cards, next_cursor: null });
    return EXIT.ok;
  },
};

export const turnsCommands: readonly Command[] = [list, show, exportOne, stop];
