// `toolplane batches`: work that one call split among several agents.

import { pathOf } from "@toolplane/sdk/client";
import { cellOf, itemsOf, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { listCommand } from "../list-command.ts";
import { toneOf } from "../tone.ts";

const list = listCommand({
  name: "batches list",
  options: ["project", "limit", "cursor"],
  summary: "list the batches of fork_join, newest first",
  path: ({ project }) => pathOf("projects", project, "batches"),
  empty: ({ project }) => `project ${project} has no batches`,
  columns: [
    { title: "BATCH", value: (batch) => textOf(batch, "batch_id") },
    {
      title: "STATUS",
      value: (batch) => textOf(batch, "status"),
      tone: (batch) => toneOf(textOf(batch, "status")),
    },
    { title: "TASKS", value: (batch) => cellOf(batch, "task_count") },
    { title: "OPEN", value: (batch) => cellOf(batch, "open_task_count") },
    { title: "AGENT", value: (batch) => textOf(batch, "agent_id") },
    { title: "CREATED", value: (batch) => shortTime(batch, "created_at") },
  ],
});

const show: Command = {
  name: "batches show",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "show one batch: its tasks, their agents and how they ended",
  async run({ client, project, args, output }) {
    const batch = await client.request({ path: pathOf("projects", project, "batches", args[0] ?? "") });
    if (output.json) {
      output.data(batch);
      return EXIT.ok;
    }
    output.fields([
      ["batch", batch.batch_id],
      ["status", batch.status],
      ["call", batch.tool_call_id],
      ["agent", batch.agent_id],
      ["turn", batch.agent_turn_id],
      ["deadline", batch.deadline_at],
      ["created", batch.created_at],
      ["ended", batch.ended_at],
    ]);
    output.table(
      itemsOf({ items: batch.tasks }),
      [
        { title: "TASK", value: (task) => cellOf(task, "task_index") },
        { title: "STATUS", value: (task) => textOf(task, "status"), tone: (task) => toneOf(textOf(task, "status")) },
        { title: "AGENT", value: (task) => textOf(task, "agent_id") },
        { title: "TURN", value: (task) => textOf(task, "agent_turn_id") },
        { title: "ATTEMPTS", value: (task) => cellOf(task, "attempts") },
        { title: "ERROR", value: (task) => textOf(task, "error") },
      ],
      "the batch has no tasks",
    );
    return EXIT.ok;
  },
};

export const batchesCommands: readonly Command[] = [list, show];
