// What goes beyond plain version 1. The parent offers, the host takes what it knows; nothing is assumed.

import { isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { hostText } from "./host-message.ts";

export const HOST_EXTENSIONS = ["cancel", "ping", "shutdown", "log", "deadline"] as const;
export type HostExtension = (typeof HOST_EXTENSIONS)[number];

/** What both sides have: the host's answer to `hello`, cut to what was offered. Any other answer means plain v1. */
export const agreedExtensions = (
  answer: JsonValue,
  offered: readonly HostExtension[] = HOST_EXTENSIONS,
): readonly HostExtension[] => {
  const taken = isRecord(answer) && Array.isArray(answer.extensions) ? answer.extensions : [];
  return offered.filter((extension) => taken.includes(extension));
};

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface HostLog {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: JsonObject;
}

const isLogLevel = (level: unknown): level is LogLevel => LOG_LEVELS.some((known) => known === level);

/** The payload of a `log` event; odd values are converted, so that the entry is still logged. */
export const readHostLog = (payload: JsonValue): HostLog => {
  if (!isRecord(payload)) return { level: "info", message: hostText(payload), fields: {} };
  const { level, message, ...fields } = payload;
  return {
    level: isLogLevel(level) ? level : "info",
    message: hostText(message),
    fields: fields as JsonObject,
  };
};
