// `toolplane calls ...`: look at calls, stop them, make them again.

import { isOver, pathOf } from "@toolplane/sdk/client";
import { CALL_STATUSES } from "../../http/statuses.ts";
import { parseText, shortTime, textOf } from "../body.ts";
import { resolveCallId } from "../call-id.ts";
import { showOutcome } from "../call-outcome.ts";
import type { Command, CommandContext } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { EXIT } from "../exit-code.ts";
import { listCommand } from "../list-command.ts";
import { filterQuery, LIST_FILTERS } from "../list-filters.ts";
import { callSpan, showCall } from "../show-call.ts";
import { toneOf } from "../tone.ts";
import { askPatiently, leaveRunning, openPatient, waitForCall, withWait } from "../wait-for-call.ts";
import { WrongUsage } from "../wrong-usage.ts";

const callPath = (project: string, id: string, ...rest: readonly string[]): string =>
  pathOf("projects", project, "calls", id, ...rest);

const list = listCommand({
  name: "calls list",
  options: ["project", "tool", "target", ...LIST_FILTERS],
  statuses: CALL_STATUSES,
  summary: "list calls, newest first",
  path: ({ project }) => pathOf("projects", project, "calls"),
  query: (context) => ({ ...filterQuery(context), tool_name: context.flags.tool, target: context.flags.target }),
  empty: ({ project }) => `project ${project} has no such calls`,
  columns: [
    { title: "CALL", value: (call) => textOf(call, "tool_call_id") },
    { title: "STATUS", value: (call) => textOf(call, "status"), tone: (call) => toneOf(textOf(call, "status")) },
    { title: "TOOL", value: (call) => textOf(call, "tool_name") },
    { title: "AGENT", value: (call) => textOf(call, "agent_id") },
    { title: "CREATED", value: (call) => shortTime(call, "created_at") },
    { title: "TOOK", value: callSpan },
    { title: "ERROR", value: (call) => textOf(call, "error_code") },
  ],
});

const show: Command = {
  name: "calls show",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project", "wait"],
  summary: "show one call (the id last is the newest one)",
  async run(context) {
    const { flags, client, output } = context;
    const isWaited = flags.wait !== undefined;
    return withWait(context, isWaited ? parseDuration(flags.wait, "--wait") : 0, async (wait) => {
      const onAway = (): void => output.note(`the server at ${client.url} is away; waiting for it`);
      const id = await askPatiently(context, wait, () => resolveCallId(context), onAway);
      const plane = openPatient(context, () => `call ${id}`);
      const call = await askPatiently(context, wait, () => plane.read(id), onAway);
      if (!isWaited) {
        showCall(context, call);
        return EXIT.ok;
      }
      const waited = await waitForCall(context, plane, call, wait);
      if (!isOver(waited)) return leaveRunning(context, waited, wait.signal.aborted);
      showCall(context, waited);
      return EXIT.ok;
    });
  },
};

const checkCancel = ({ flags, args }: Pick<CommandContext, "flags" | "args">): void => {
  const isFiltered = [flags.tool, flags.target, flags.agent].some((filter) => filter !== undefined);
  const one = "name one call by its id, or give --all for the calls that wait";
  if ((flags.all === true) === (args.length === 1)) throw new WrongUsage(one, "calls cancel");
  if (isFiltered && flags.all !== true)
    throw new WrongUsage("--tool, --target and --agent go with --all", "calls cancel");
};

/** Page by page, so that no request takes long. */
const cancelWaiting = async ({ client, project, flags, output }: CommandContext): Promise<number> => {
  const path = pathOf("projects", project, "calls", "cancel");
  const filter = { tool_name: flags.tool, target: flags.target, agent_id: flags.agent, reason: flags.reason };
  let canceled = 0;
  let cursor: string | undefined;
  do {
    const answer = await client.request({ method: "POST", path, body: { ...filter, cursor } });
    canceled += Number(answer.canceled ?? 0);
    cursor = textOf(answer, "next_cursor");
  } while (cursor !== undefined);
  if (output.json) output.data({ canceled });
  else output.line(`canceled ${canceled} ${canceled === 1 ? "call" : "calls"} of project ${project}`);
  return EXIT.ok;
};

const cancel: Command = {
  name: "calls cancel",
  usage: "ID|--all",
  least: 0,
  most: 1,
  options: ["project", "reason", "all", "tool", "target", "agent"],
  summary:
    "stop a call, and tell its service; with --all: all calls that wait, of a tool, target or agent if one is named",
  async run(context) {
    const { openPlane, flags, output } = context;
    checkCancel(context);
    if (flags.all === true) return cancelWaiting(context);
    const id = await resolveCallId(context);
    const answer = await openPlane().cancel(id, flags.reason);
    if (output.json) output.data({ tool_call_id: id, ...answer });
    else if (answer.canceled) output.line(`canceled ${id}`);
    else output.line(`call ${id} was over before: ${answer.status}`);
    return EXIT.ok;
  },
};

const retry: Command = {
  name: "calls retry",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project", "wait", "key"],
  summary: "make a new call with the arguments of an old one",
  async run(context) {
    const { client, project, flags, output, io } = context;
    const id = await resolveCallId(context);
    const headers = { "idempotency-key": flags.key ?? `cli-${io.uuid()}` };
    const made = await client.request({ method: "POST", path: callPath(project, id, "retry"), body: {}, headers });
    if (flags.wait === undefined) {
      if (output.json) output.data({ ...made, retry_of: id });
      else output.line(`call ${parseText(made, "tool_call_id")} is made: the retry of ${id}`);
      return EXIT.ok;
    }
    return withWait(context, parseDuration(flags.wait, "--wait"), async (wait) => {
      const plane = openPatient(context, () => `call ${parseText(made, "tool_call_id")}`);
      const call = await waitForCall(context, plane, made, wait);
      return isOver(call) ? showOutcome(context, call) : leaveRunning(context, call, wait.signal.aborted);
    });
  },
};

const decide = (verb: "approve" | "deny", said: string, summary: string): Command => ({
  name: `calls ${verb}`,
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project", "reason", "as"],
  summary,
  async run(context) {
    const { client, project, flags, output, io } = context;
    const id = await resolveCallId(context);
    const person = [flags.as, io.env.USER, io.env.LOGNAME].map((name) => name?.trim()).find(Boolean);
    const body = {
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
      ...(person === undefined ? {} : { by: person }),
    };
    const answer = await client.request({ method: "POST", path: callPath(project, id, verb), body });
    if (output.json) output.data(answer);
    else if (answer.idempotent === true)
      output.line(`call ${id} was ${said} before, by ${textOf(answer, "by") ?? "somebody"}`);
    else output.line(`${said} ${id} as ${textOf(answer, "by") ?? "?"}; it is ${textOf(answer, "status") ?? "decided"}`);
    return EXIT.ok;
  },
});

export const callsCommands: readonly Command[] = [
  list,
  show,
  cancel,
  retry,
  decide("approve", "approved", "let a call run that waits for a person"),
  decide("deny", "denied", "refuse a call that waits for a person; it never runs"),
];
