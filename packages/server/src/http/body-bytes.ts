// The bytes of a body, bounded: no more than the route takes, no more than there is room for (body-budget.ts), and within a time
// limit. A declared length is refused before anything is read; undeclared bytes are counted as they come.

import { inTime, LATE, systemClock } from "@toolplane/bus/ports";
import { showName, ToolplaneError } from "@toolplane/protocol";
import { shareOf } from "./body-budget.ts";

/** Read in one piece, without a web stream: a web stream costs more than the rest of a small request. */
const AT_ONCE_BYTES = 64 * 1024;
/** A sender that is silent for longer in the middle of a body has gone. */
const SILENCE_MS = 15_000;
/** By this time a small body must have arrived, and more than `AT_ONCE_BYTES` of a large one. A body that trickles would hold its connection. */
const SMALL_BODY_MS = 15_000;

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

const slow = (ms: number): ToolplaneError =>
  new ToolplaneError("bad_request", `the body came too slowly: it had ${ms / 1_000} seconds; send it again`);

const orGone = <Read>(reading: Promise<Read>): Promise<Read> =>
  reading.catch((cause: unknown) => {
    throw gone(cause);
  });

const within = async <Read>(reading: Promise<Read>, ms: number, late: () => ToolplaneError): Promise<Read> => {
  const read = await inTime(systemClock, ms, reading);
  if (read === LATE) throw late();
  return read;
};

const readPiece = async (reader: Reader, { silenceMs, smallMs }: Bounds, leftMs: number | undefined) => {
  const isShort = leftMs !== undefined && leftMs < silenceMs;
  const read = await within(orGone(reader.read()), isShort ? leftMs : silenceMs, () =>
    isShort ? slow(smallMs) : silent(silenceMs),
  );
  return read.value;
};

interface Bounds {
  readonly maxBytes: number;
  readonly silenceMs: number;
  readonly smallMs: number;
  /** Called for each piece that was not counted before. */
  readonly take: (bytes: number) => void;
}

const readPieces = async (body: ReadableStream<Uint8Array>, bounds: Bounds): Promise<Uint8Array> => {
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  const began = performance.now();
  let size = 0;
  try {
    for (;;) {
      const leftMs = size > AT_ONCE_BYTES ? undefined : Math.max(bounds.smallMs - (performance.now() - began), 0);
      const piece = await readPiece(reader, bounds, leftMs);
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
  { silenceMs = SILENCE_MS, smallMs = SMALL_BODY_MS }: Partial<Pick<Bounds, "silenceMs" | "smallMs">> = {},
): Promise<ArrayBuffer | Uint8Array> => {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity")
    throw new ToolplaneError(
      "bad_request",
      `the body is sent as it is, not encoded as ${showName(encoding)}: leave Content-Encoding out`,
    );
  const share = shareOf(request);
  const length = request.headers.has("transfer-encoding") ? null : request.headers.get("content-length");
  const declared = length === null ? undefined : Number(length);
  if (declared !== undefined && declared > maxBytes) throw tooLarge(maxBytes);
  if (declared !== undefined) share?.take(declared);
  using onItsWay = await share?.arrive();
  if (declared === undefined) {
    const take = (bytes: number): void => share?.take(bytes);
    return request.body === null
      ? new Uint8Array()
      : await readPieces(request.body, { maxBytes, silenceMs, smallMs, take });
  }
  if (declared > AT_ONCE_BYTES && request.body !== null)
    return await readPieces(request.body, { maxBytes: declared, silenceMs, smallMs, take: () => {} });
  const reading = orGone(request.arrayBuffer());
  // A body that is here needs no clock.
  const bytes = await (share !== undefined && onItsWay === undefined
    ? reading
    : within(reading, smallMs, () => slow(smallMs)));
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
  return bytes;
};
