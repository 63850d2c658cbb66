// The log port, and the log a service has when it was given none: one line per event on stderr.
// I8. What a tool writes is scrubbed before it comes here; nothing here knows a token or an argument.

import type { Log, LogFields } from "@toolplane/bus/ports";

export { type Log, type LogFields, silentLog } from "@toolplane/bus/ports";

const show = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "?";
  }
};

const formatLine = (level: string, message: string, fields: LogFields): string => {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${show(value)}`)
    .join("");
  // A message with a line break could pretend to be another entry.
  const line = `${message}${rest}`.replaceAll("\r", " ").replaceAll("\n", " ");
  return `toolplane ${level}: ${line}\n`;
};

export const createLineLog = (write: (line: string) => void): Log => ({
  info: (message, fields = {}) => write(formatLine("info", message, fields)),
  warn: (message, fields = {}) => write(formatLine("warn", message, fields)),
  error: (message, fields = {}) => write(formatLine("error", message, fields)),
});

export const stderrLog: Log = createLineLog((line) => process.stderr.write(line));

/** Every entry of the new log carries the fields. */
export const withFields = (log: Log, fields: LogFields): Log => ({
  info: (message, own) => log.info(message, { ...fields, ...own }),
  warn: (message, own) => log.warn(message, { ...fields, ...own }),
  error: (message, own) => log.error(message, { ...fields, ...own }),
});
