// JSON values, and how much one document may hold.

export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export interface JsonCaps {
  /** Levels of arrays and objects; a scalar has depth 0. */
  readonly maxDepth?: number;
  /** Length of the text in UTF-8 bytes. */
  readonly maxBytes?: number;
}

/** Deep enough for real data, shallow enough that every recursive reader (ours, Postgres, a tool's) survives it. */
export const MAX_JSON_DEPTH = 64;

/** The longest line of a tool host; a card that did not fit into such a line could not be used with hosts. */
export const MAX_JSON_BYTES = 16 * 1024 * 1024;

/** An object in the JSON sense: not null, not an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A string with something in it besides blanks. */
export const isFilled = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** UTF-8 length without making the bytes; lone surrogates count as the three bytes of their replacement. */
export const utf8Bytes = (text: string): number => {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
    } else if (unit >= 0xd800 && unit <= 0xdbff && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      bytes += 2;
      i++;
    } else {
      bytes += 2;
    }
  }
  return bytes;
};

/** Most texts are decided by their length alone; only those near the cap are counted. */
export const exceedsBytes = (text: string, maxBytes: number): boolean =>
  text.length > maxBytes || (text.length * 3 > maxBytes && utf8Bytes(text) > maxBytes);
