// `toolplane profiles ...`: what agents are told, which tools they may use, whom they may delegate to.

import { pathOf } from "@toolplane/sdk/client";
import { applyFiles } from "../apply-files.ts";
import { cellOf, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { listCommand } from "../list-command.ts";

const apply: Command = {
  name: "profiles apply",
  usage: "FILE...",
  least: 1,
  most: Number.POSITIVE_INFINITY,
  options: ["project"],
  summary: "register profiles from YAML or JSON files",
  run: (context) =>
    applyFiles(
      context,
      "profiles",
      (profile) => `${textOf(profile, "outcome") ?? "registered"} ${textOf(profile, "name") ?? "?"}`,
    ),
};

const list = listCommand({
  name: "profiles list",
  options: ["project", "limit", "cursor"],
  summary: "list the profiles of a project",
  path: ({ project }) => pathOf("projects", project, "profiles"),
  empty: ({ project }) => `project ${project} has no profiles; register one with: toolplane profiles apply FILE`,
  columns: [
    { title: "PROFILE", value: (profile) => textOf(profile, "name") },
    { title: "WORKER", value: (profile) => textOf(profile, "worker_target") },
    { title: "TAGS", value: (profile) => cellOf(profile, "tags") },
    { title: "UPDATED", value: (profile) => shortTime(profile, "updated_at") },
  ],
});

const show: Command = {
  name: "profiles show",
  usage: "NAME",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "show one profile",
  async run({ client, project, args, output }) {
    const profile = await client.request({ path: pathOf("projects", project, "profiles", args[0] ?? "") });
    if (output.json) {
      output.data(profile);
      return EXIT.ok;
    }
    output.fields([
      ["profile", profile.name],
      ["worker", profile.worker_target],
      ["box", profile.profile_box_id],
      ["updated", profile.updated_at],
    ]);
    output.value(profile.profile ?? {});
    return EXIT.ok;
  },
};

const remove: Command = {
  name: "profiles delete",
  usage: "NAME",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "delete a profile; agents that have it keep it",
  async run({ client, project, args, output }) {
    await client.request({ method: "DELETE", path: pathOf("projects", project, "profiles", args[0] ?? "") });
    if (output.json) output.data({ name: args[0], deleted: true });
    else output.line(`deleted ${args[0]}`);
    return EXIT.ok;
  },
};

export const profilesCommands: readonly Command[] = [apply, list, show, remove];
