// `toolplane webhooks ...`: who is told of a project's events, what was sent, and sending it again.

import { type Body, pathOf } from "@toolplane/sdk/client";
import { DELIVERY_STATUSES } from "../../http/statuses.ts";
import { cellOf, parseText, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { splitList } from "../flag-values.ts";
import { listCommand } from "../list-command.ts";
import { showPage } from "../page.ts";
import { WrongUsage } from "../wrong-usage.ts";

const eventsOf = (webhook: Body): string | null => (Array.isArray(webhook.events) ? webhook.events.join(",") : null);

const create: Command = {
  name: "webhooks create",
  usage: "URL",
  least: 1,
  most: 1,
  options: ["project", "events", "secret-env"],
  summary: "tell an address what happens to the calls of a project",
  async run({ client, args, flags, io, output, project }) {
    const name = flags["secret-env"] ?? "TOOLPLANE_WEBHOOK_SECRET";
    const secret = io.env[name];
    // A secret on the command line would be in the list of processes and in the shell's history.
    if (secret === undefined || secret === "")
      throw new WrongUsage(`put the webhook's secret into the variable ${name}, or name another with --secret-env`);
    const body = { url: args[0], secret, ...(flags.events === undefined ? {} : { events: splitList(flags.events) }) };
    const made = await client.request({ method: "POST", path: pathOf("projects", project, "webhooks"), body });
    if (output.json) output.data(made);
    else output.line(`created ${parseText(made, "webhook_id")}`);
    return EXIT.ok;
  },
};

const list = listCommand({
  name: "webhooks list",
  options: ["project", "limit", "cursor"],
  summary: "list the webhooks of a project",
  path: ({ project }) => pathOf("projects", project, "webhooks"),
  empty: ({ project }) => `project ${project} has no webhooks`,
  columns: [
    { title: "WEBHOOK", value: (webhook) => textOf(webhook, "webhook_id") },
    { title: "EVENTS", value: eventsOf },
    { title: "URL", value: (webhook) => textOf(webhook, "url") },
    { title: "CREATED", value: (webhook) => shortTime(webhook, "created_at") },
    { title: "BY", value: (webhook) => textOf(webhook, "created_by") },
  ],
});

const remove: Command = {
  name: "webhooks delete",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "delete a webhook, with what waits for it",
  async run({ client, args, output, project }) {
    const id = args[0] ?? "";
    await client.request({ method: "DELETE", path: pathOf("projects", project, "webhooks", id) });
    if (output.json) output.data({ webhook_id: id, deleted: true });
    else output.line(`deleted ${id}`);
    return EXIT.ok;
  },
};

const deliveries: Command = {
  name: "webhooks deliveries",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project", "limit", "cursor", "status"],
  statuses: DELIVERY_STATUSES,
  summary: "list what was sent to a webhook, newest first",
  async run(context) {
    const { client, project, flags, args } = context;
    const path = pathOf("projects", project, "webhooks", args[0] ?? "", "deliveries");
    const query = { limit: flags.limit, cursor: flags.cursor, status: flags.status };
    showPage(context, await client.request({ path, query }), {
      empty: "nothing was sent to this webhook yet",
      columns: [
        { title: "DELIVERY", value: (delivery) => textOf(delivery, "delivery_id") },
        { title: "EVENT", value: (delivery) => textOf(delivery, "event") },
        { title: "STATUS", value: (delivery) => textOf(delivery, "status") },
        { title: "ATTEMPTS", value: (delivery) => cellOf(delivery, "attempts") },
        { title: "AT", value: (delivery) => shortTime(delivery, "created_at") },
        { title: "NEXT", value: (delivery) => shortTime(delivery, "next_attempt_at") },
        { title: "REASON", value: (delivery) => textOf(delivery, "last_error") },
      ],
    });
    return EXIT.ok;
  },
};

const replay: Command = {
  name: "webhooks replay",
  usage: "DELIVERY",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "send a delivery again, also a dead one",
  async run({ client, args, output, project }) {
    const path = pathOf("projects", project, "webhook-deliveries", args[0] ?? "", "replay");
    const replayed = await client.request({ method: "POST", path });
    if (output.json) output.data(replayed);
    else output.line(`replayed ${parseText(replayed, "delivery_id")}`);
    return EXIT.ok;
  },
};

export const webhooksCommands: readonly Command[] = [list, create, remove, deliveries, replay];
