// `toolplane projects ...`.

import { isRecord } from "@toolplane/protocol";
import { pathOf } from "@toolplane/sdk/client";
import { parseText, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { limitText, readLimitState, readLimits, refuseByFlag, stateFields } from "../limits.ts";
import { listCommand } from "../list-command.ts";

const list = listCommand({
  name: "projects list",
  options: ["limit", "cursor"],
  summary: "list projects",
  path: () => "/projects",
  empty: () => "there are no projects; make one with: toolplane projects create ID",
  columns: [
    { title: "PROJECT", value: (project) => textOf(project, "project_id") },
    { title: "STATUS", value: (project) => textOf(project, "status") },
    { title: "OWNER", value: (project) => textOf(project, "owner_id") },
    { title: "CREATED", value: (project) => shortTime(project, "created_at") },
    { title: "TITLE", value: (project) => textOf(project, "title") },
  ],
});

const create: Command = {
  name: "projects create",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["title", "owner", "bare"],
  summary: "make a project, with the bundled tools in it",
  async run({ client, args, flags, output }) {
    const body = {
      project_id: args[0],
      title: flags.title ?? args[0],
      ...(flags.owner === undefined ? {} : { owner_id: flags.owner }),
      ...(flags.bare === true ? { bootstrap: false } : {}),
    };
    const project = await client.request({ method: "POST", path: "/projects", body });
    if (output.json) output.data(project);
    else output.line(`created ${parseText(project, "project_id")}`);
    return EXIT.ok;
  },
};

const show: Command = {
  name: "projects show",
  usage: "ID",
  least: 1,
  most: 1,
  options: [],
  summary: "show one project",
  async run({ client, args, output }) {
    const project = await client.request({ path: pathOf("projects", args[0] ?? "") });
    if (output.json) output.data(project);
    else
      output.fields([
        ["project", project.project_id],
        ["title", project.title],
        ["status", project.status],
        ["owner", project.owner_id],
        ["limits", project.limits],
        ["created", project.created_at],
        ["updated", project.updated_at],
      ]);
    return EXIT.ok;
  },
};

const remove: Command = {
  name: "projects delete",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["force"],
  summary: "delete a project with everything in it",
  async run({ client, args, flags, output }) {
    const query = flags.force === true ? { force: "true" } : {};
    await client.request({ method: "DELETE", path: pathOf("projects", args[0] ?? ""), query });
    if (output.json) output.data({ project_id: args[0], deleted: true });
    else output.line(`deleted ${args[0]}`);
    return EXIT.ok;
  },
};

const limits: Command = {
  name: "projects limits",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["concurrency", "rate", "burst", "queue", "breaker"],
  summary: "show or change what a project may do at once, and what its limits hold now",
  async run({ client, args, flags, output }) {
    const path = pathOf("projects", args[0] ?? "");
    const body = { limits: readLimits(flags, "target_breaker", "projects limits") };
    const changes = Object.keys(body.limits).length > 0;
    const project = await client.request(changes ? { method: "PATCH", path, body } : { path }).catch(refuseByFlag);
    const now = isRecord(project.limits) ? project.limits : {};
    const state = await readLimitState(client, args[0] ?? "", null);
    if (output.json) output.data({ ...now, state: state ?? null });
    else
      output.fields([
        ...Object.entries(now).map(([name, value]) => [name, limitText(value)] as const),
        ...stateFields(state),
      ]);
    return EXIT.ok;
  },
};

export const projectsCommands: readonly Command[] = [list, create, show, limits, remove];
