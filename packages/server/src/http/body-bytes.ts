// The bytes of a body, bounded: no more than the route takes, no more than there is room for (body-budget.ts), and within a time
// limit. A declared length is refused before anything is read; undeclared bytes are counted as they come.

import { showName, ToolplaneError } from "@toolplane/protocol";
import { shareOf } from "./body-budget.ts";

/** Read in one piece, without a web stream: a web stream costs more than the rest of a small request. */
const AT_ONCE_BYTES = 64 * 1024;
/** A sender that is silent for longer in the middle of a body has gone. The server's own limit ends bodies that only trickle. */
const SILENCE_MS = 15_000;

const tooLarge = (maxBytes: number): ToolplaneError =>
  new ToolplaneError("payload_too_large", `the body is larger than ${maxBytes} bytes`, {
    detail: { max_bytes: maxBytes },
  });

const silent = (ms: number): ToolplaneError =>
  new ToolplaneError(
    "bad_request",
    `the body stopped in the middle: nothing came for ${ms / 1_000} seconds; send it again`,
  );

/** When the bytes of a request stop coming, its sender has gone; that is not a failure of the server. */
const gone = (cause: unknown): ToolplaneError =>
  new ToolplaneError("canceled", "the connection was closed before the body had come; send it again", { cause });

type Reader = ReadableStreamDefaultReader<Uint8Array>;

const readPiece = async (reader: Reader, silenceMs: number): Promise<Uint8Array | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(silent(silenceMs)), silenceMs);
  });
  const read = reader.read().catch((cause: unknown) => {
    throw gone(cause);
  });
  try {
    const { value } = await Promise.race([read, silence]);
    return value;
  } finally {
    clearTimeout(timer);
  }
};

interface Bounds {
  readonly maxBytes: number;
  readonly silenceMs: number;
  /** Called for each piece that was not counted before. */
  readonly take: (bytes: number) => void;
}

const readPieces = async (body: ReadableStream<Uint8Array>, bounds: Bounds): Promise<Uint8Array> => {
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const piece = await readPiece(reader, bounds.silenceMs);
      if (piece === undefined) return Buffer.concat(pieces);
      size += piece.byteLength;
      if (size > bounds.maxBytes) throw tooLarge(bounds.maxBytes);
      bounds.take(piece.byteLength);
      pieces.push(piece);
    }
  } catch (error) {
    // The rest of the body is dropped; errors of dropping it do not matter.
    reader.cancel(error).catch(() => {});
    throw error;
  }
};

export const readBytes = async (
  request: Request,
  maxBytes: number,
  silenceMs: number = SILENCE_MS,
): Promise<ArrayBuffer | Uint8Array> => {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity")
    throw new ToolplaneError(
      "bad_request",
      `the body is sent as it is, not encoded as ${showName(encoding)}: leave Content-Encoding out`,
    );
  const share = shareOf(request);
  const length = request.headers.has("transfer-encoding") ? null : request.headers.get("content-length");
  if (length === null) {
    const take = (bytes: number): void => share?.take(bytes);
    return request.body === null ? new Uint8Array() : readPieces(request.body, { maxBytes, silenceMs, take });
  }
  const declared = Number(length);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  share?.take(declared);
  if (declared > AT_ONCE_BYTES && request.body !== null)
    return readPieces(request.body, { maxBytes: declared, silenceMs, take: () => {} });
  const bytes = await request.arrayBuffer().catch((cause: unknown) => {
    throw gone(cause);
  });
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
  return bytes;
};
