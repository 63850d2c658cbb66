// Writes the lines of the tool host protocol. Values must be JSON already (`copyJson` says where they are not): a value
// that JSON.stringify would quietly shorten must be refused before it gets here.
//
// The envelope of the frequent lines is written as text around its values: half the cost of one JSON.stringify of everything.

import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { HOST_PROTOCOL_VERSION, type HostError } from "./host-message.ts";

const ENVELOPE = `{"v":${HOST_PROTOCOL_VERSION},"id":`;

const writeLine = (message: object): string => `${JSON.stringify(message)}\n`;

export const encodeHostRequest = (id: string, method: string, params: JsonObject): string =>
  writeLine({ v: HOST_PROTOCOL_VERSION, id, method, params });

/** The params of execute_tool; `deadline_ms` only for a host that knows it. */
export interface HostCallParams {
  readonly toolName: string;
  readonly arguments: JsonObject;
  readonly state: JsonObject;
  readonly deadlineMs?: number | undefined;
}

export const encodeHostCall = (id: string, call: HostCallParams): string => {
  const { toolName, arguments: given, state, deadlineMs } = call;
  const named = `${ENVELOPE}${JSON.stringify(id)},"method":"execute_tool","params":{"tool_name":${JSON.stringify(toolName)}`;
  const last = deadlineMs === undefined ? "}}\n" : `,"deadline_ms":${JSON.stringify(deadlineMs)}}}\n`;
  return `${named},"arguments":${JSON.stringify(given)},"state":${JSON.stringify(state)}${last}`;
};

export const encodeHostSuccess = (id: string, value: JsonValue, state?: JsonObject): string => {
  const head = `${ENVELOPE}${JSON.stringify(id)},"ok":true,"result":{"value":${JSON.stringify(value)}`;
  return state === undefined ? `${head}}}\n` : `${head},"state":${JSON.stringify(state)}}}\n`;
};

export const encodeHostFailure = (id: string | null, error: HostError & { readonly stack?: string }): string =>
  writeLine({ v: HOST_PROTOCOL_VERSION, id, ok: false, error });

export const encodeHostEvent = (id: string, type: string, payload: JsonValue): string =>
  writeLine({ v: HOST_PROTOCOL_VERSION, id, event: { type, payload } });
