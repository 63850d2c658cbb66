// The log port. Fields, not sentences with values in them; never arguments, results, payloads or secrets (I8).

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
