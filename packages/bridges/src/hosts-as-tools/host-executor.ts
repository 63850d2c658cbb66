// The executor of a host's tools: one request to the host per call, and the host's views of its answer.
//   HX1. The host itself repeats what may be repeated; the runner must not repeat it again (give it one attempt).
//   HX2. A call that succeeded stays a success, whatever happens to its views.
//      A result that will not fit into a card is not sent back for a view: writing it takes as long as reading it.
//   HX3. The state goes to the session only where the configuration has sessions; otherwise it is dropped here.

import { type JsonObject, type JsonValue, type ResultViews, resolveOptions, ToolplaneError } from "@toolplane/protocol";
import type { FormattedResult } from "@toolplane/protocol/host";
import { type ExecuteContext, type Executor, type ToolCall, type ToolProfile, toolResult } from "@toolplane/sdk";
import type { ToolHost } from "../hosts/host.ts";
import type { DefinedHostTool } from "./host-definitions.ts";

export interface HostExecutorOptions {
  readonly host: Pick<ToolHost, "execute" | "formatResult" | "formatCallPreview" | "toDisplayFormat">;
  readonly tools: readonly DefinedHostTool[];
  readonly now: () => number;
}

/** A view must not take longer than a person waits. */
const VIEW_MS = 5_000;

const SESSION_ARGUMENT = "session_id";

/** A card has at most 1 MiB. */
const MOST_SHOWN = 1024 * 1024;

/** How many more characters and values fit; below zero means too many, and the rest is not looked at. */
const roomAfter = (value: JsonValue, room: number): number => {
  if (typeof value === "string") return room - value.length;
  // Written out, a fraction or a large number has some twenty characters.
  if (typeof value === "number") return room - (Number.isInteger(value) && Math.abs(value) < 1e6 ? 1 : 8);
  if (typeof value !== "object" || value === null) return room - 1;
  let left = room - 1;
  for (const key in value) {
    if (left < 0) break;
    left = roomAfter((value as JsonObject)[key] as JsonValue, left - (Array.isArray(value) ? 0 : key.length));
  }
  return left;
};

const profileOf = ({ definition, definitionHash }: DefinedHostTool): ToolProfile => {
  const { retry, timeoutSeconds, pin, control } = resolveOptions(definition.options);
  return { retry, timeoutSeconds, pin, control, definitionHash, secrets: [], envs: {} };
};

const argumentsOf = (call: ToolCall, tool: DefinedHostTool): JsonObject => {
  if (!tool.ownsSessionArgument) return call.arguments;
  const { [SESSION_ARGUMENT]: _alias, ...rest } = call.arguments;
  return rest;
};

const modelView = (formatted: FormattedResult): JsonValue =>
  formatted.kind === "text" ? formatted.text : formatted.envelope;

const textOf = (formatted: FormattedResult | undefined, result: JsonValue): string =>
  formatted === undefined
    ? typeof result === "string"
      ? result
      : JSON.stringify(result)
    : formatted.kind === "text"
      ? formatted.text
      : JSON.stringify(formatted.envelope);

export const createHostExecutor = ({ host, tools, now }: HostExecutorOptions): Executor => {
  const byName = new Map(tools.map((tool) => [tool.definition.tool_name, { tool, profile: profileOf(tool) }] as const));

  const viewsOf = async (
    call: ToolCall,
    about: { readonly hostTool: string; readonly arguments: JsonObject; readonly result: JsonValue },
    state: JsonObject | undefined,
    { log, signal }: ExecuteContext,
  ): Promise<ResultViews> => {
    const ask = { signal, deadlineMs: Math.max(0, Math.min(VIEW_MS, call.deadline - now())) };
    // What a host is asked to format is what it answered with.
    const result = { success: true, result: about.result };
    const tryView = async <T>(what: string, work: Promise<T | undefined>): Promise<T | undefined> => {
      try {
        return await work;
      } catch (error) {
        if (!signal.aborted) log.warn("a host could not format a result", { what, reason: String(error) });
        return undefined;
      }
    };
    const [formatted, preview] = await Promise.all([
      tryView("format_tool_result", host.formatResult({ result, state, ...ask })),
      tryView(
        "format_tool_call_preview",
        host.formatCallPreview({ toolName: about.hostTool, arguments: about.arguments, state, ...ask }),
      ),
    ]);
    const text = textOf(formatted, about.result);
    const display = await tryView("to_display_format", host.toDisplayFormat({ text, result, state, ...ask }));
    return { model: formatted && modelView(formatted), display, preview };
  };

  return {
    find: (toolName) => byName.get(toolName)?.profile,
    async execute(call, context) {
      const found = byName.get(call.toolName);
      if (found === undefined) throw new ToolplaneError("not_found", `the host has no tool ${call.toolName}`);
      const { hostTool, definition } = found.tool;
      const args = argumentsOf(call, found.tool);
      const { outcome, state } = await host.execute({
        toolName: hostTool,
        arguments: args,
        state: call.session,
        deadlineMs: Math.max(0, call.deadline - now()),
        signal: context.signal,
        emit: context.emit,
      });
      if (outcome.status === "failed") throw outcome.error;
      const { result } = outcome;
      // The state is sent with each request for a view.
      const isShown = roomAfter([result, state ?? null], MOST_SHOWN) >= 0;
      const views = isShown ? await viewsOf(call, { hostTool, arguments: args, result }, state, context) : undefined;
      const keeps = resolveOptions(definition.options).session !== "none";
      return toolResult({ status: "success", result, sessionState: keeps ? state : undefined, views });
    },
  };
};
