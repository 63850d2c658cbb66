// The program's log: one entry per line on stderr, JSON for machines, a short line for a person at a terminal.
// I8. Fields are ids, codes, counts and times; arguments, results and secrets are never logged.

import type { Log, LogFields } from "@toolplane/engine";
import { pino } from "pino";
import { refuseConfig } from "../config/refuse.ts";
import { formatLogLine } from "./log-line.ts";
import { maskSecrets } from "./mask-secrets.ts";

const LOG_LEVELS = ["error", "warn", "info", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  readonly write: (line: string) => void;
  /** A person looks at it. */
  readonly pretty: boolean;
  readonly level: LogLevel;
}

export const parseLogLevel = (text: string): LogLevel => {
  const level = LOG_LEVELS.find((known) => known === text.toLowerCase());
  if (level === undefined) throw refuseConfig(`TOOLPLANE_LOG_LEVEL is one of ${LOG_LEVELS.join(", ")}, not ${text}`);
  return level;
};

export const createLog = ({ write, pretty, level }: LogOptions): Log => {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(maskSecrets(pretty ? formatLogLine(line) : line)) },
  );
  const entry =
    (name: "info" | "warn" | "error") =>
    (message: string, fields: LogFields = {}): void =>
      logger[name](fields, message);
  return { info: entry("info"), warn: entry("warn"), error: entry("error") };
};
