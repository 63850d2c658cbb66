// A log that keeps what it is told.

import type { Log, LogFields } from "../src/ports/log.ts";

export interface LogEntry {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields | undefined;
}

export interface RecordingLog extends Log {
  readonly entries: LogEntry[];
  text(): string;
}

export const createRecordingLog = (): RecordingLog => {
  const entries: LogEntry[] = [];
  const at =
    (level: LogEntry["level"]) =>
    (message: string, fields?: LogFields): void => {
      entries.push({ level, message, fields });
    };
  return { entries, text: () => JSON.stringify(entries), info: at("info"), warn: at("warn"), error: at("error") };
};
