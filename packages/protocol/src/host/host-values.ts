// A host's answers, by method. An answer of another shape is a protocol violation, and the error names it.

import { z } from "zod";
import { checkWith } from "../errors/parse-with.ts";
import { violation } from "../errors/toolplane-error.ts";
import { jsonObject, jsonObjects, texts } from "../json/json-schemas.ts";
import { isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { HOST_ERROR_TYPES, type HostFailure, type HostSuccess } from "./host-message.ts";

/** Methods whose answer is plain data; those with a meaning of their own have a reader below. */
export const HOST_VALUES = {
  get_config_schema: jsonObject,
  get_ui_elements: jsonObjects,
  get_tags: texts,
  required_tags: texts,
  format_tool_call_preview: z.string(),
  to_display_format: jsonObject,
} as const;

export type PlainHostMethod = keyof typeof HOST_VALUES;

export type PlainHostValue<M extends PlainHostMethod> = z.output<(typeof HOST_VALUES)[M]>;

export const parseHostValue = <M extends PlainHostMethod>(method: M, value: JsonValue): PlainHostValue<M> => {
  const schema: z.ZodType = HOST_VALUES[method];
  const checked = checkWith(schema, value);
  if ("data" in checked) return checked.data as PlainHostValue<M>;
  throw violation(`the host's answer to ${method} has the wrong shape`, { method });
};

export type ToolOutcome =
  | { readonly success: true; readonly result: JsonValue }
  | { readonly success: false; readonly error: string };

const errorText = (error: unknown): string => {
  if (typeof error === "string" && error.trim() !== "") return error;
  return error === undefined || error === null || error === ""
    ? "the tool failed without saying why"
    : JSON.stringify(error);
};

/** The answer to execute_tool. */
export const parseToolOutcome = (value: JsonValue): ToolOutcome => {
  if (isRecord(value)) {
    if (value.success === true) return { success: true, result: (value.result ?? null) as JsonValue };
    if (value.success === false) return { success: false, error: errorText(value.error) };
  }
  throw violation("the host's answer to execute_tool has no success flag", { method: "execute_tool" });
};

/** The state after init: the response's own state, else its value. */
export const initialState = (response: HostSuccess): JsonObject => {
  if (response.state !== undefined) return response.state;
  return isRecord(response.value) ? (response.value as JsonObject) : {};
};

/** How a host says that it lacks an optional method; this is an answer, not a failure. */
export const isNotOffered = (response: HostFailure): boolean => response.error.type === HOST_ERROR_TYPES.method;

const PROVIDER_NATIVE_TYPE = "provider_native_tool_result";
const PROVIDER_NATIVE_FORMATS = ["openai.chat_completions", "openai.responses"] as const;
export type ProviderNativeFormat = (typeof PROVIDER_NATIVE_FORMATS)[number];

export type FormattedResult =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "native"; readonly format: ProviderNativeFormat; readonly envelope: JsonObject };

const isNativeFormat = (format: unknown): format is ProviderNativeFormat =>
  PROVIDER_NATIVE_FORMATS.some((known) => known === format);

/** The answer to format_tool_result: only the explicit envelope stays structured, every other object becomes text. */
export const readFormattedResult = (value: JsonValue): FormattedResult => {
  if (typeof value === "string") return { kind: "text", text: value };
  if (isRecord(value) && value.type === PROVIDER_NATIVE_TYPE && isNativeFormat(value.format)) {
    return { kind: "native", format: value.format, envelope: value as JsonObject };
  }
  return { kind: "text", text: JSON.stringify(value) };
};
