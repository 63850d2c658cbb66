// Writes the lines of the tool host protocol. Values must be JSON already (`copyJson` says where they are not): a value
// that JSON.stringify would quietly shorten must be refused before it gets here.

import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { HOST_PROTOCOL_VERSION, type HostError } from "./host-message.ts";

const writeLine = (message: object): string => `${JSON.stringify(message)}\n`;

export const encodeHostRequest = (id: string, method: string, params: JsonObject): string =>
  writeLine({ v: HOST_PROTOCOL_VERSION, id, method, params });

export const encodeHostSuccess = (id: string, value: JsonValue, state?: JsonObject): string =>
  writeLine({ v: HOST_PROTOCOL_VERSION, id, ok: true, result: state === undefined ? { value } : { value, state } });

export const encodeHostFailure = (id: string | null, error: HostError & { readonly stack?: string }): string =>
  writeLine({ v: HOST_PROTOCOL_VERSION, id, ok: false, error });

export const encodeHostEvent = (id: string, type: string, payload: JsonValue): string =>
  writeLine({ v: HOST_PROTOCOL_VERSION, id, event: { type, payload } });
