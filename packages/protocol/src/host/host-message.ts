// The lines of the tool host protocol, version 1: one JSON object per line, read the same way on both sides.
// HM1. A line is a request (it has a method), an event, or a response (it has `ok`); anything else is refused.
// HM2. Unknown keys are ignored, so a plain v1 peer and an extended one can read each other.
// HM3. Every refusal says which host error answers it, and for which request, so the reader can reply and go on.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { isFilled, isRecord, type JsonCaps, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { parseJsonInTurns, parseJsonStrict } from "../json/parse-json.ts";

export const HOST_PROTOCOL_VERSION = 1;

/** The `error.type` words that have a meaning of their own; plugins add their class names. */
export const HOST_ERROR_TYPES = {
  parse: "ParseError",
  version: "VersionError",
  params: "InvalidParams",
  method: "MethodNotFound",
  canceled: "Canceled",
} as const;

export interface HostRequest {
  readonly kind: "request";
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
}

export interface HostSuccess {
  readonly kind: "response";
  readonly id: string;
  readonly ok: true;
  readonly value: JsonValue;
  /** Present when the request carried a state, or was `init`. */
  readonly state: JsonObject | undefined;
}

export interface HostError {
  readonly type: string;
  readonly detail: string;
}

export interface HostFailure {
  readonly kind: "response";
  /** Null when the host could not read the request at all. */
  readonly id: string | null;
  readonly ok: false;
  readonly error: HostError & { readonly stack?: string };
}

export interface HostEvent {
  readonly kind: "event";
  readonly id: string;
  readonly event: { readonly type: string; readonly payload: JsonValue };
}

export type HostResponse = HostSuccess | HostFailure;
export type HostMessage = HostRequest | HostResponse | HostEvent;

type Line = Readonly<Record<string, JsonValue>>;

/** `detail.type` and `detail.id` are what a host answers with. */
export const hostFault = (type: string, message: string, id: string | null): ToolplaneError =>
  new ToolplaneError(type === HOST_ERROR_TYPES.version ? "protocol_violation" : "bad_request", message, {
    detail: { type, id },
  });

const notReadable = (error: unknown): ToolplaneError => {
  if (error instanceof ToolplaneError && error.code === "payload_too_large") return error;
  const message = error instanceof ToolplaneError ? error.message : "the line is not JSON";
  return hostFault(HOST_ERROR_TYPES.parse, message, null);
};

const readJson = (line: string, caps: JsonCaps): JsonValue => {
  try {
    return parseJsonStrict(line, caps);
  } catch (error) {
    throw notReadable(error);
  }
};

const readRequest = (line: Line, id: string): HostRequest => {
  const { method, params } = line;
  if (!isFilled(method)) throw hostFault(HOST_ERROR_TYPES.params, "method must be a name", id);
  if (params !== undefined && params !== null && !isRecord(params)) {
    throw hostFault(HOST_ERROR_TYPES.params, "params must be an object", id);
  }
  return { kind: "request", id, method, params: (params ?? {}) as JsonObject };
};

const readEvent = (line: Line, id: string): HostEvent => {
  const { event } = line;
  if (!isRecord(event) || !isFilled(event.type)) {
    throw hostFault(HOST_ERROR_TYPES.params, "an event needs a type", id);
  }
  return { kind: "event", id, event: { type: event.type, payload: (event.payload ?? null) as JsonValue } };
};

const readSuccess = (line: Line, id: string): HostSuccess => {
  const { result } = line;
  if (!isRecord(result)) throw hostFault(HOST_ERROR_TYPES.params, "result must be an object", id);
  const { value, state } = result;
  if (state !== undefined && state !== null && !isRecord(state)) {
    throw hostFault(HOST_ERROR_TYPES.params, "state must be an object", id);
  }
  return {
    kind: "response",
    id,
    ok: true,
    value: (value ?? null) as JsonValue,
    state: (state ?? undefined) as JsonObject | undefined,
  };
};

/** Where a text is expected, most hosts send a text; other values are shown as JSON. */
export const hostText = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

const readFailure = (line: Line, id: string | null): HostFailure => {
  const { error } = line;
  if (!isRecord(error)) throw hostFault(HOST_ERROR_TYPES.params, "error must be an object", id);
  const read = { type: isFilled(error.type) ? error.type : "Error", detail: hostText(error.detail) };
  return {
    kind: "response",
    id,
    ok: false,
    error: typeof error.stack === "string" ? { ...read, stack: error.stack } : read,
  };
};

/** Reads one line, on either side; throws a ToolplaneError whose detail is the answer that a host must send. */
export const parseHostLine = (text: string, caps: JsonCaps = {}): HostMessage => readMessage(readJson(text, caps));

/** The same for a long line: `breathe` lets other work run between two steps of reading. */
export const parseHostLineInTurns = async (
  text: string,
  breathe: () => Promise<unknown>,
  caps: JsonCaps = {},
): Promise<HostMessage> => {
  const read = parseJsonInTurns(text, breathe, caps).catch((error: unknown) => Promise.reject(notReadable(error)));
  return readMessage(await read);
};

const readMessage = (line: JsonValue): HostMessage => {
  if (!isRecord(line)) throw hostFault(HOST_ERROR_TYPES.parse, "the line is not an object", null);
  const id = isFilled(line.id) ? line.id : null;
  if (line.v !== HOST_PROTOCOL_VERSION) throw hostFault(HOST_ERROR_TYPES.version, "v must be 1", id);
  const message = line as Line;
  if (id === null) {
    if (message.ok === false && message.id === null) return readFailure(message, null);
    throw hostFault(HOST_ERROR_TYPES.params, "id must be a non-empty string", null);
  }
  if (message.method !== undefined) return readRequest(message, id);
  if (message.event !== undefined) return readEvent(message, id);
  if (message.ok === true) return readSuccess(message, id);
  if (message.ok === false) return readFailure(message, id);
  throw hostFault(HOST_ERROR_TYPES.params, "the line is neither a request, a response nor an event", id);
};
