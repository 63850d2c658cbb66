// The methods of a tool host: three that every host has, seven optional ones, four that are negotiated.

import { z } from "zod";
import { checkWith, fromSchemaIssues } from "../errors/parse-with.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { jsonObject, jsonObjects, jsonValue, texts } from "../json/json-schemas.ts";
import { isFilled, isRecord, type JsonObject } from "../json/json-value.ts";
import { HOST_ERROR_TYPES, hostFault } from "./host-message.ts";

const nothing = z.object({});
const call = z.object({ tool_name: z.string().min(1), arguments: jsonObject, state: jsonObject });

/** Params by method; unknown keys are dropped. */
export const HOST_PARAMS = {
  init: z.object({ config: jsonObject }),
  get_tool_schemas: z.object({ state: jsonObject }),
  execute_tool: call.extend({ deadline_ms: z.number().nonnegative().optional() }),
  get_config_schema: nothing,
  get_ui_elements: nothing,
  get_tags: z.object({ config: jsonObject, models: jsonObjects }),
  required_tags: nothing,
  format_tool_result: z.object({ result: jsonValue, state: jsonObject }),
  format_tool_call_preview: call,
  to_display_format: z.object({ text: z.string(), result: jsonValue, state: jsonObject }),
  hello: z.object({ extensions: texts }),
  cancel: z.object({ id: z.string().min(1) }),
  ping: nothing,
  shutdown: nothing,
} as const;

export type HostMethod = keyof typeof HOST_PARAMS;
export type HostParams<M extends HostMethod> = z.output<(typeof HOST_PARAMS)[M]>;

export const REQUIRED_HOST_METHODS = [
  "init",
  "get_tool_schemas",
  "execute_tool",
] as const satisfies readonly HostMethod[];
export const OPTIONAL_HOST_METHODS = [
  "get_config_schema",
  "get_ui_elements",
  "get_tags",
  "required_tags",
  "format_tool_result",
  "format_tool_call_preview",
  "to_display_format",
] as const satisfies readonly HostMethod[];

/** A response carries the updated state when its request carried one, and after `init`. */
export const carriesState = (method: string, params: JsonObject): boolean =>
  method === "init" || isRecord(params.state);

/** The one method on the hot path, without zod. */
const readCall = (params: JsonObject): HostParams<"execute_tool"> | undefined => {
  const { tool_name, arguments: given, state, deadline_ms } = params;
  if (!isFilled(tool_name) || !isRecord(given) || !isRecord(state)) return undefined;
  const read = { tool_name, arguments: given as JsonObject, state: state as JsonObject };
  if (deadline_ms === undefined) return read;
  return typeof deadline_ms === "number" && deadline_ms >= 0 ? { ...read, deadline_ms } : undefined;
};

/** The params of a request, or the host error that answers it. */
export const parseHostParams = <M extends HostMethod>(method: M, params: JsonObject, id: string): HostParams<M> => {
  const fast = method === "execute_tool" ? readCall(params) : undefined;
  if (fast !== undefined) return fast as HostParams<M>;
  const checked = checkWith(HOST_PARAMS[method], params);
  if ("data" in checked) return checked.data as HostParams<M>;
  const { message } = fromSchemaIssues(checked.issues, method);
  throw hostFault(HOST_ERROR_TYPES.params, message, id);
};

/** What a host answers to a method it does not have. */
export const methodNotFound = (method: string, id: string): ToolplaneError =>
  new ToolplaneError("not_found", `unknown method ${JSON.stringify(method.slice(0, 100))}`, {
    detail: { type: HOST_ERROR_TYPES.method, id },
  });
