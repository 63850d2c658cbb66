// The beginning of a value as JSON text, and how long the whole would be, without ever holding the whole. Values that are too
// large to be stored may be larger than memory (a small graph can be an enormous tree), so both are bounded.

import { utf8Bytes } from "@toolplane/protocol";

export interface Preview {
  readonly text: string;
  readonly bytes: number;
  /** False when counting stopped early: the real size is at least this. */
  readonly exact: boolean;
}

/** Counting further would take time and help no reader. */
const MAX_COUNTED_BYTES = 1.25 * 1024 * 1024;
/** As deep as JSON may be here; it also ends a cycle. */
const MAX_DEPTH = 64;

interface Writer {
  readonly keep: number;
  text: string;
  bytes: number;
}

/** False when the walk can stop. */
const add = (writer: Writer, piece: string): boolean => {
  if (writer.text.length < writer.keep) writer.text += piece.slice(0, writer.keep - writer.text.length);
  writer.bytes += utf8Bytes(piece);
  return writer.bytes <= MAX_COUNTED_BYTES;
};

const scalar = (value: unknown): string =>
  typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "null");

const writeList = (list: readonly unknown[], writer: Writer, depth: number): boolean => {
  for (const [index, item] of list.entries()) {
    if (!add(writer, index === 0 ? "[" : ",") || !write(item, writer, depth)) return false;
  }
  return add(writer, list.length === 0 ? "[]" : "]");
};

const writeRecord = (record: object, writer: Writer, depth: number): boolean => {
  const entries = Object.entries(record).filter(([, item]) => item !== undefined);
  for (const [index, [key, item]] of entries.entries()) {
    if (!add(writer, `${index === 0 ? "{" : ","}${scalar(key)}:`) || !write(item, writer, depth)) return false;
  }
  return add(writer, entries.length === 0 ? "{}" : "}");
};

/** A text that is too long to be counted: its beginning, and at least how long it is. */
const addLongText = (value: string, writer: Writer): boolean => {
  add(writer, scalar(value.slice(0, writer.keep)).slice(0, -1));
  writer.bytes = MAX_COUNTED_BYTES;
  return false;
};

const write = (value: unknown, writer: Writer, depth: number): boolean => {
  if (typeof value === "string" && value.length > MAX_COUNTED_BYTES) return addLongText(value, writer);
  if (typeof value !== "object" || value === null) return add(writer, scalar(value));
  if (depth > MAX_DEPTH) return false;
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") return write(toJSON.call(value), writer, depth + 1);
  return Array.isArray(value) ? writeList(value, writer, depth + 1) : writeRecord(value, writer, depth + 1);
};

export const previewJson = (value: unknown, maxChars: number): Preview => {
  const writer: Writer = { keep: maxChars, text: "", bytes: 0 };
  let exact = false;
  try {
    exact = write(value, writer, 0);
  } catch {
    // A getter that throws: what was seen so far is the preview.
  }
  return { text: writer.text.toWellFormed(), bytes: writer.bytes, exact };
};
