// `toolplane tools ...`: the tools of a project.

import { isRecord } from "@toolplane/protocol";
import { type Body, pathOf } from "@toolplane/sdk/client";
import { applyFiles } from "../apply-files.ts";
import { cellOf, shortTime, targetOf, textOf } from "../body.ts";
import type { Command, CommandContext } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { limitText, readLimitState, readLimits, refuseByFlag, stateFields } from "../limits.ts";
import { listCommand } from "../list-command.ts";
import type { Output } from "../output.ts";
import { showPage } from "../page.ts";
import { partOf, pendingOf, sayWaiting, showChanges, showHistory, showPending } from "../pending.ts";
import { shorten } from "../plain-text.ts";

/** The part of a description that fits beside the other columns. */
const DESCRIPTION_WIDTH = 60;

const toolPath = (project: string, name: string, ...rest: readonly string[]): string =>
  pathOf("projects", project, "tools", name, ...rest);

/** A deleted tool too, when a version of it waits. */
const WITH_PENDING = { pending: "true" };

const apply: Command = {
  name: "tools apply",
  usage: "FILE...",
  least: 1,
  most: Number.POSITIVE_INFINITY,
  options: ["project"],
  summary: "register definitions from YAML or JSON files",
  run: (context) =>
    applyFiles(
      context,
      "tools",
      (tool) =>
        sayWaiting(tool) ??
        `${textOf(tool, "outcome") ?? "registered"} ${textOf(tool, "tool_name") ?? "?"} version ${cellOf(tool, "version") ?? "?"}`,
    ),
};

const list = listCommand({
  name: "tools list",
  options: ["project", "limit", "cursor", "pending"],
  summary: "list the tools of a project, or those with a version that waits",
  path: ({ project }) => pathOf("projects", project, "tools"),
  query: ({ flags }) => ({ pending: flags.pending ? "true" : undefined }),
  empty: ({ project, flags }) =>
    flags.pending
      ? `no version of a tool of project ${project} waits to be accepted`
      : `project ${project} has no tools; register one with: toolplane tools apply FILE`,
  columns: [
    { title: "TOOL", value: (tool) => textOf(tool, "tool_name") },
    { title: "VERSION", value: (tool) => cellOf(tool, "version") },
    { title: "PENDING", value: (tool) => cellOf(pendingOf(tool), "version") },
    { title: "STATUS", value: (tool) => textOf(tool, "status") },
    { title: "TARGET", value: targetOf },
    { title: "DESCRIPTION", value: (tool) => shorten(textOf(tool, "description") ?? "", DESCRIPTION_WIDTH) },
  ],
});

const show: Command = {
  name: "tools show",
  usage: "TOOL",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "show one tool with its parameters and options",
  async run({ client, project, args, output }) {
    const tool = await client.request({ path: toolPath(project, args[0] ?? ""), query: WITH_PENDING });
    if (output.json) {
      output.data(tool);
      return EXIT.ok;
    }
    output.fields([
      ["tool", tool.tool_name],
      ["description", tool.description],
      ["version", tool.version],
      ["status", tool.status],
      ["target", tool.target_subject],
      ["after execution", tool.after_execution],
      ["definition hash", tool.definition_hash],
      ["source", tool.source],
      ["updated", tool.updated_at],
      ["options", tool.options],
    ]);
    output.value({ parameters: tool.parameters ?? {} });
    showPending(output, args[0] ?? "", tool);
    return EXIT.ok;
  },
};

const versions: Command = {
  name: "tools versions",
  usage: "TOOL",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "list the versions of a tool, newest first",
  async run(context) {
    const { client, project, args } = context;
    const page = await client.request({ path: toolPath(project, args[0] ?? "", "versions") });
    showPage(context, page, {
      empty: "no versions",
      columns: [
        { title: "VERSION", value: (version) => cellOf(version, "version") },
        { title: "STATE", value: (version) => textOf(version, "state") },
        { title: "CREATED", value: (version) => shortTime(version, "created_at") },
        { title: "DEFINITION HASH", value: (version) => textOf(version, "definition_hash") },
      ],
    });
    if (context.output.json) return EXIT.ok;
    showHistory(context.output, (Array.isArray(page.items) ? page.items : []) as readonly Body[]);
    showPending(context.output, args[0] ?? "", page);
    return EXIT.ok;
  },
};

/** The tools that wait and whose names begin as the pattern says, each with the version that waits now. */
const waitingLike = async ({ client, project }: CommandContext, start: string): Promise<readonly Body[]> => {
  const found: Body[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.request({
      path: pathOf("projects", project, "tools"),
      query: { ...WITH_PENDING, cursor },
    });
    found.push(...((Array.isArray(page.items) ? page.items : []) as readonly Body[]));
    cursor = textOf(page, "next_cursor");
  } while (cursor !== undefined);
  return found.filter((tool) => textOf(tool, "tool_name")?.startsWith(start) === true);
};

/** A person who accepts a service without leases gives up `pin: strict`, and may not see that in a list of changes. */
const sayUnpinned = (output: Output, name: string, tool: Body): void => {
  const { weakens } = partOf(tool, "accepted");
  const isPlain = isRecord(tool.options) && tool.options.service === "plain";
  if (!isPlain || !Array.isArray(weakens) || !weakens.includes("options.pin")) return;
  output.note(
    `calls of ${name} are no longer pinned to the version they were made under: its service takes no leases, and a lease is what checks the version`,
  );
};

/** An imported API has hundreds of tools: a person looks at the list and accepts them by the start of their names. */
const acceptAll = async (context: CommandContext, start: string): Promise<number> => {
  const { client, project, output } = context;
  const waiting = await waitingLike(context, start);
  const accepted: Body[] = [];
  for (const tool of waiting) {
    const name = textOf(tool, "tool_name") ?? "";
    const body = { version: Number(cellOf(pendingOf(tool), "version")) };
    accepted.push(await client.request({ method: "POST", path: toolPath(project, name, "accept"), body }));
    if (!output.json) output.line(`accepted ${name} version ${body.version}`);
    if (!output.json) sayUnpinned(output, name, accepted.at(-1) ?? {});
  }
  if (output.json) output.data({ items: accepted });
  else if (accepted.length === 0) output.line(`no version of a tool ${start}... of project ${project} waits`);
  return EXIT.ok;
};

const accept: Command = {
  name: "tools accept",
  usage: "TOOL|PREFIX*",
  least: 1,
  most: 1,
  options: ["project", "version"],
  summary: "put the version that a service registered and that waits in force",
  async run(context) {
    const { client, project, args, flags, output } = context;
    const name = args[0] ?? "";
    if (name.endsWith("*")) return acceptAll(context, name.slice(0, -1));
    // Without a version the server accepts the waiting one only if no other version came that the person may have read instead.
    const body = flags.version === undefined ? {} : { version: Number(flags.version) };
    const tool = await client.request({ method: "POST", path: toolPath(project, name, "accept"), body });
    if (output.json) {
      output.data(tool);
      return EXIT.ok;
    }
    output.line(`accepted ${name} version ${cellOf(tool, "version") ?? "?"}`);
    showChanges(output, partOf(tool, "accepted"), "ACCEPTED");
    sayUnpinned(output, name, tool);
    return EXIT.ok;
  },
};

const change = (verb: "pause" | "resume", said: string, summary: string): Command => ({
  name: `tools ${verb}`,
  usage: "TOOL",
  least: 1,
  most: 1,
  options: ["project"],
  summary,
  async run({ client, project, args, output }) {
    const answer = await client.request({ method: "POST", path: toolPath(project, args[0] ?? "", verb) });
    if (output.json) output.data({ tool_name: args[0], ...answer });
    else output.line(`${said} ${args[0]}`);
    return EXIT.ok;
  },
});

/** The options that limit a tool. */
const LIMITS = ["concurrency", "rate", "breaker", "retry_policy"] as const;

const limits: Command = {
  name: "tools limits",
  usage: "TOOL",
  least: 1,
  most: 1,
  options: ["project", "concurrency", "rate", "burst", "breaker"],
  summary:
    "show or change the limits of a tool, and nothing else of it, and show what they hold now; retry_policy is changed by the API or the definition",
  async run({ client, project, args, flags, output }) {
    const name = args[0] ?? "";
    const body = readLimits(flags, "breaker", "tools limits");
    const tool = await client
      .request(
        Object.keys(body).length === 0
          ? { path: toolPath(project, name) }
          : { method: "PATCH", path: toolPath(project, name, "limits"), body },
      )
      .catch(refuseByFlag);
    const { options } = tool;
    const now = Object.fromEntries(LIMITS.map((key) => [key, isRecord(options) ? (options[key] ?? null) : null]));
    const state = await readLimitState(client, project, name);
    if (output.json) output.data({ ...now, state: state ?? null });
    else
      output.fields([
        ...Object.entries(now).map(([key, value]) => [key, limitText(value)] as const),
        ...stateFields(state),
      ]);
    return EXIT.ok;
  },
};

const remove: Command = {
  name: "tools delete",
  usage: "TOOL",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "delete a tool; calls made under it keep its versions",
  async run({ client, project, args, output }) {
    await client.request({ method: "DELETE", path: toolPath(project, args[0] ?? "") });
    if (output.json) output.data({ tool_name: args[0], deleted: true });
    else output.line(`deleted ${args[0]}`);
    return EXIT.ok;
  },
};

export const toolsCommands: readonly Command[] = [
  apply,
  list,
  show,
  versions,
  accept,
  limits,
  change("pause", "paused", "hold back new and queued calls of a tool"),
  change("resume", "resumed", "let the calls of a paused tool run"),
  remove,
];
