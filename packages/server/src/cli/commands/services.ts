// `toolplane services`, `hosts`, `approvals`: who serves what, and what needs a person.

import { isRecord } from "@toolplane/protocol";
import { type Body, pathOf } from "@toolplane/sdk/client";
import { cellOf, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { listCommand } from "../list-command.ts";
import { showPage } from "../page.ts";
import { shortValue } from "../show-turn.ts";
import { spanText } from "../time-text.ts";
import { toneOf } from "../tone.ts";

const services: Command = {
  name: "services list",
  usage: "",
  least: 0,
  most: 0,
  options: ["project"],
  summary: "list the services that ask for work, and those that went away within the last hour",
  async run(context) {
    const { client, project, io } = context;
    const agoOf = (at: string | undefined): string => `${spanText(io.now() - Date.parse(at ?? ""))} ago`;
    showPage(context, await client.request({ path: pathOf("projects", project, "services") }), {
      empty: `no service of project ${project} has asked this server for work within the last hour`,
      columns: [
        { title: "TARGET", value: (service) => textOf(service, "target") },
        { title: "SERVICE", value: (service) => textOf(service, "holder") },
        {
          title: "STATUS",
          value: (service) => textOf(service, "status") ?? null,
          tone: (service) => (textOf(service, "status") === "gone" ? "attention" : undefined),
        },
        { title: "LAST HEARD", value: (service) => agoOf(textOf(service, "last_seen_at")) },
      ],
    });
    return EXIT.ok;
  },
};

const problemOf = (host: Body): string | null => {
  const said = isRecord(host.problem) ? textOf(host.problem, "message") : textOf(host, "last_failure");
  const todo = textOf(host, "todo");
  return said === undefined ? (todo ?? null) : `${said}${todo === undefined ? "" : `; ${todo}`}`;
};

const hosts = listCommand({
  name: "hosts list",
  options: ["project"],
  summary: "list the tool hosts and MCP servers of a project: what runs, what does not and why",
  path: ({ project }) => pathOf("projects", project, "hosts"),
  empty: ({ project }) => `project ${project} has no tool hosts; name one under hosts or mcp_servers in toolplane.yaml`,
  columns: [
    { title: "HOST", value: (host) => textOf(host, "name") },
    { title: "KIND", value: (host) => textOf(host, "kind") },
    { title: "STATE", value: (host) => textOf(host, "state"), tone: (host) => toneOf(textOf(host, "state")) },
    { title: "TARGET", value: (host) => textOf(host, "target") },
    { title: "PROCESSES", value: (host) => (Array.isArray(host.processes) ? host.processes.length : 0) },
    { title: "CRASHES", value: (host) => cellOf(host, "crashes") },
    { title: "TOOLS", value: (host) => (Array.isArray(host.tools) ? host.tools.join(" ") : null) },
    { title: "PROBLEM", value: problemOf },
  ],
});

const approvals = listCommand({
  name: "approvals list",
  options: ["project", "limit", "cursor"],
  summary: "list the calls that wait for a person, with their arguments",
  path: ({ project }) => pathOf("projects", project, "approvals"),
  empty: ({ project }) => `no call of project ${project} waits for a person`,
  columns: [
    { title: "CALL", value: (call) => textOf(call, "tool_call_id") },
    { title: "TOOL", value: (call) => textOf(call, "tool_name") },
    { title: "AGENT", value: (call) => textOf(call, "agent_id") },
    { title: "ASKED", value: (call) => shortTime(call, "asked_at") },
    { title: "EXPIRES", value: (call) => shortTime(call, "expires_at") },
    { title: "ARGUMENTS", value: (call) => shortValue(call.arguments) },
  ],
});

export const servicesCommands: readonly Command[] = [services, hosts, approvals];
