// A request body, bounded: the declared length is believed only when it is too large, the bytes are counted anyway. A body
// that declares its length is read at once (HTTP ends it there); one that does not is read piece by piece.
// A large body takes tens of milliseconds to read even when it is honest, so large ones are read one after the other, and
// whatever else the server has to do comes between them.

import { setImmediate as breathe } from "node:timers/promises";
import { isToolplaneError, type JsonValue, parseJsonStrict, showName, ToolplaneError } from "@toolplane/protocol";

const tooLarge = (maxBytes: number): ToolplaneError =>
  new ToolplaneError("payload_too_large", `the body is larger than ${maxBytes} bytes`, {
    detail: { max_bytes: maxBytes },
  });

const decode = (bytes: ArrayBuffer | Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ToolplaneError("bad_request", "the body is not UTF-8 text");
  }
};

const readPieces = async (body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

export const readBody = async (request: Request, maxBytes: number): Promise<string> => {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity")
    throw new ToolplaneError(
      "bad_request",
      `the body is sent as it is, not encoded as ${showName(encoding)}: leave Content-Encoding out`,
    );
  const declared = request.headers.get("content-length");
  if (Number(declared ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (declared !== null && !request.headers.has("transfer-encoding")) {
    // No stream of the web's kind is made for it: that costs more than all the rest of a small request.
    const bytes = await request.arrayBuffer();
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
    return decode(bytes);
  }
  return request.body === null ? "" : decode(await readPieces(request.body, maxBytes));
};

/** A few milliseconds to read. */
const LARGE_TEXT = 128 * 1024;

const parseNow = (text: string): JsonValue => {
  try {
    // Its bytes were counted when it was read.
    return parseJsonStrict(text, { maxBytes: Number.POSITIVE_INFINITY });
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
    throw new ToolplaneError(error.code, error.message.replace(/^the (text|JSON) /, "the body "), {
      detail: error.detail,
    });
  }
};

let before: Promise<unknown> = Promise.resolve();

const parseInTurn = (text: string): Promise<JsonValue> => {
  const mine = before.then(() => breathe()).then(() => parseNow(text));
  before = mine.catch(() => undefined);
  return mine;
};

/** The JSON of a body; what is wrong with it is said of the body. */
export const parseBody = (text: string): JsonValue | Promise<JsonValue> => {
  if (text.length > LARGE_TEXT) return parseInTurn(text);
  if (text.trim() === "") throw new ToolplaneError("bad_request", "the body is empty: send JSON");
  return parseNow(text);
};
