// `toolplane trace`: everything that came of one request, as a tree. A call's or a turn's id stands for its trace.

import { isToolplaneError, showName, ToolplaneError } from "@toolplane/protocol";
import { type Body, pathOf } from "@toolplane/sdk/client";
import { itemsOf, parseText, textOf } from "../body.ts";
import { LAST, newestCall } from "../call-id.ts";
import type { Command, CommandContext } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import type { Output } from "../output.ts";
import { oneLine } from "../plain-text.ts";
import { spanOf } from "../time-text.ts";
import { toneOf } from "../tone.ts";
import { newestTurn } from "../turn-id.ts";

/** The trace of the newest call or turn, whichever was made later. */
const newestTrace = async (context: CommandContext): Promise<string> => {
  const found = [await newestCall(context), await newestTurn(context)].filter((one) => one !== undefined);
  const [newest] = found.sort((a, b) => (textOf(b, "created_at") ?? "").localeCompare(textOf(a, "created_at") ?? ""));
  if (newest === undefined)
    throw new ToolplaneError("not_found", `project ${context.project} has no calls or turns yet`);
  return parseText(newest, "trace_id");
};

const TRACE_ID = /^[0-9a-f]{32}$/i;

/** The trace of a call or a turn with this id; the id itself when there is none, for it is a trace then. */
const resolveTraceId = async (context: CommandContext): Promise<string> => {
  const { client, project, args } = context;
  const id = args[0] ?? "";
  if (id === LAST) return newestTrace(context);
  const kind = id.startsWith("turn_") ? "turns" : "calls";
  try {
    return parseText(await client.request({ path: pathOf("projects", project, kind, id) }), "trace_id");
  } catch (error) {
    if (!isToolplaneError(error) || error.code !== "not_found" || kind === "turns") throw error;
    if (TRACE_ID.test(id)) return id;
    throw new ToolplaneError("not_found", `project ${project} has no call, turn or trace with the id ${showName(id)}`);
  }
};

const nameOf = (node: Body): string => {
  const kind = textOf(node, "kind");
  if (kind === "step") return `step ${(textOf(node, "id") ?? "").replace(/^.*_/, "")}`;
  return kind === "turn" ? `agent ${textOf(node, "name") ?? "?"}` : (textOf(node, "name") ?? "?");
};

const showNodes = (output: Output, nodes: readonly Body[], indent: string): void => {
  for (const node of nodes) {
    const status = textOf(node, "status") ?? "?";
    const code = textOf(node, "error_code");
    const took = spanOf(node, "started_at", "ended_at");
    const about = `${output.paint(toneOf(status), oneLine(status))}${code === undefined ? "" : ` (${oneLine(code)})`}${took === undefined ? "" : ` in ${took}`}`;
    const kind = textOf(node, "kind");
    const id =
      kind === "step" ? "" : `  ${output.paint("faint", oneLine(`${kind ?? ""} ${textOf(node, "id") ?? ""}`))}`;
    output.line(`${indent}${oneLine(nameOf(node))}  ${about}${id}`);
    showNodes(output, itemsOf({ items: node.children }), `${indent}  `);
  }
};

export const traceCommand: Command = {
  name: "trace",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "show what came of one request as a tree; takes the id of a trace, a call or a turn, or last",
  async run(context) {
    const { client, project, output } = context;
    const trace = await client.request({ path: pathOf("projects", project, "traces", await resolveTraceId(context)) });
    if (output.json) {
      output.data(trace);
      return EXIT.ok;
    }
    output.fields([["trace", trace.trace_id]]);
    showNodes(output, itemsOf({ items: trace.tree }), "");
    if (trace.is_cut === true) output.note("there is more than is shown here");
    return EXIT.ok;
  },
};
