// I8. What leaves the executor has none of the secrets that went in: results, errors, log entries and parts pass here.
// Texts, keys and numbers are looked at; a value that held a secret is replaced, not dropped, so that the reader sees where.

import { isRecord, type JsonValue } from "@toolplane/protocol";
import type { Log, LogFields } from "../ports/log.ts";
import { openEnd, redact } from "./find-secrets.ts";
import { type SecretForm, secretForms } from "./secret-forms.ts";

export interface Scrubber {
  readonly forms: readonly SecretForm[];
  text(text: string): string;
  /** For a text that was cut: an end that may be the beginning of a secret is removed too. */
  start(text: string): string;
  value(value: JsonValue): JsonValue;
}

const scrubValue = (value: JsonValue, forms: readonly SecretForm[]): JsonValue => {
  if (typeof value === "string") return redact(value, forms);
  if (typeof value === "number") {
    const text = String(value);
    const clean = redact(text, forms);
    return clean === text ? value : clean;
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => scrubValue(item, forms));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Record<string, JsonValue>).map(([key, item]) => [
      redact(key, forms),
      scrubValue(item, forms),
    ]),
  );
};

export const createScrubber = (secrets: ReadonlyMap<string, string>): Scrubber => {
  const forms = secretForms(secrets);
  if (forms.length === 0) return { forms, text: (text) => text, start: (text) => text, value: (value) => value };
  return {
    forms,
    text: (text) => redact(text, forms),
    start: (text) => redact(text.slice(0, text.length - openEnd(text, forms)), forms),
    value: (value) => scrubValue(value, forms),
  };
};

/** A log field may be any value; a value that cannot be read is left out, because it could hold a secret. */
const scrubField = (value: unknown, scrubber: Scrubber): unknown => {
  if (value === undefined || typeof value === "boolean") return value;
  if (value instanceof Error) return scrubber.text(value.message);
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : scrubber.value(JSON.parse(text) as JsonValue);
  } catch {
    return "[unreadable]";
  }
};

export const scrubLog = (log: Log, scrubber: Scrubber): Log => {
  const clean = (fields: LogFields | undefined): LogFields | undefined =>
    fields &&
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [scrubber.text(name), scrubField(value, scrubber)]),
    );
  return {
    info: (message, fields) => log.info(scrubber.text(message), clean(fields)),
    warn: (message, fields) => log.warn(scrubber.text(message), clean(fields)),
    error: (message, fields) => log.error(scrubber.text(message), clean(fields)),
  };
};
