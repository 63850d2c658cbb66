// `toolplane agents ...`: who works in a project.

import { pathOf } from "@toolplane/sdk/client";
import { cellOf, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { listCommand } from "../list-command.ts";
import { toneOf } from "../tone.ts";
import { WrongUsage } from "../wrong-usage.ts";

const create: Command = {
  name: "agents create",
  usage: "AGENT",
  least: 1,
  most: 1,
  options: ["project", "profile", "title"],
  summary: "make an agent of a profile, or give one another profile",
  async run({ client, project, args, flags, output }) {
    if (flags.profile === undefined) throw new WrongUsage("agents create needs --profile NAME");
    const body = {
      agent_id: args[0],
      profile_name: flags.profile,
      ...(flags.title === undefined ? {} : { display_name: flags.title }),
    };
    const agent = await client.request({ method: "POST", path: pathOf("projects", project, "agents"), body });
    if (output.json) output.data(agent);
    else output.line(`${textOf(agent, "outcome") ?? "created"} ${args[0]}`);
    return EXIT.ok;
  },
};

const list = listCommand({
  name: "agents list",
  options: ["project", "limit", "cursor", "all"],
  summary: "list the agents of a project; --all also those that were made for a task and have done it",
  path: ({ project }) => pathOf("projects", project, "agents"),
  query: ({ flags }) => ({ all: flags.all ? "true" : undefined }),
  empty: ({ project }) =>
    `project ${project} has no agents; make one with: toolplane agents create AGENT --profile NAME`,
  columns: [
    { title: "AGENT", value: (agent) => textOf(agent, "agent_id") },
    { title: "NAME", value: (agent) => textOf(agent, "display_name") },
    {
      title: "STATUS",
      value: (agent) => textOf(agent, "status"),
      tone: (agent) => toneOf(textOf(agent, "status")),
    },
    { title: "WORKER", value: (agent) => textOf(agent, "worker_target") },
    { title: "OWNER", value: (agent) => textOf(agent, "owner_agent_id") },
    { title: "CREATED", value: (agent) => shortTime(agent, "created_at") },
  ],
});

const show: Command = {
  name: "agents show",
  usage: "AGENT",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "show one agent",
  async run({ client, project, args, output }) {
    const agent = await client.request({ path: pathOf("projects", project, "agents", args[0] ?? "") });
    if (output.json) output.data(agent);
    else
      output.fields([
        ["agent", agent.agent_id],
        ["name", agent.display_name],
        ["status", agent.status],
        ["worker", agent.worker_target],
        ["profile box", agent.profile_box_id],
        ["owner", agent.owner_agent_id],
        ["tags", cellOf(agent, "tags")],
        ["metadata", agent.metadata],
        ["created", agent.created_at],
        ["updated", agent.updated_at],
      ]);
    return EXIT.ok;
  },
};

const change = (verb: "activate" | "deactivate", said: string, summary: string): Command => ({
  name: `agents ${verb}`,
  usage: "AGENT",
  least: 1,
  most: 1,
  options: ["project", "reason"],
  summary,
  async run({ client, project, args, flags, output }) {
    const body = flags.reason === undefined ? {} : { reason: flags.reason };
    const path = pathOf("projects", project, "agents", args[0] ?? "", verb);
    const agent = await client.request({ method: "POST", path, body });
    if (output.json) output.data(agent);
    else output.line(`${said} ${args[0]}`);
    return EXIT.ok;
  },
});

export const agentsCommands: readonly Command[] = [
  create,
  list,
  show,
  change("activate", "activated", "let an agent work again"),
  change("deactivate", "deactivated", "an inactive agent starts no turns and makes no calls"),
];
