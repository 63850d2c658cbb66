// Converts between messages of the bus and bytes of NATS. Any user of the server may have written what comes in, so reading
// never throws and never guesses: the result is text with each header once, or the reason why it is not.

import { headers as createHeaders, type Msg, type MsgHdrs } from "@nats-io/transport-node";
import { type HeaderMap, isToolplaneError, normalizeHeaders, storableText, ToolplaneError } from "@toolplane/protocol";

export const encodeHeaders = (headers: HeaderMap): MsgHdrs => {
  const encoded = createHeaders();
  for (const [name, value] of Object.entries(headers)) encoded.set(name, value);
  return encoded;
};

export interface EncodedMessage {
  readonly headers: MsgHdrs | undefined;
  readonly payload: Uint8Array;
  /** As the server counts them. */
  readonly bytes: number;
}

const encoder = new TextEncoder();

export const encodeMessage = (
  { headers, payload }: { readonly headers: HeaderMap; readonly payload: string },
  transportHeaders: HeaderMap = {},
): EncodedMessage => {
  const encoded = encodeHeaders({ ...headers, ...transportHeaders });
  const bytes = encoder.encode(payload);
  return {
    headers: encoded.keys().length > 0 ? encoded : undefined,
    payload: bytes,
    bytes: bytes.length + encoded.toString().length,
  };
};

/** The server closes the connection of a client that sends more. */
export const checkFits = ({ bytes }: EncodedMessage, limit: number | undefined): void => {
  if (limit === undefined || bytes <= limit) return;
  throw new ToolplaneError("payload_too_large", `a message has ${bytes} bytes; this NATS server carries ${limit}`);
};

export type ReadMessage =
  | { readonly ok: true; readonly headers: HeaderMap; readonly messageId: string | undefined; readonly payload: string }
  | { readonly ok: false; readonly fault: string };

const MESSAGE_ID = "nats-msg-id";
const TRANSPORT_PREFIX = "nats-";

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossyText = new TextDecoder("utf-8", { ignoreBOM: true });

const tryDecode = (bytes: Uint8Array): string | undefined => {
  try {
    const text = strictText.decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
};

const readHeaders = (message: Msg): ReadMessage => {
  const raw: Record<string, string> = {};
  let messageId: string | undefined;
  try {
    for (const [name, values] of message.headers ?? []) {
      const [value = ""] = values;
      const lower = name.toLowerCase();
      if (lower === MESSAGE_ID) messageId = value;
      if (lower.startsWith(TRANSPORT_PREFIX)) continue;
      if (values.length > 1) return { ok: false, fault: "a header stands more than once" };
      raw[name] = value;
    }
    return { ok: true, headers: normalizeHeaders(raw), messageId, payload: "" };
  } catch (error) {
    return { ok: false, fault: isToolplaneError(error) ? error.message : "the headers cannot be read" };
  }
};

export const readMessage = (message: Msg): ReadMessage => {
  const read = readHeaders(message);
  if (!read.ok) return read;
  const payload = tryDecode(message.data);
  if (payload === undefined) return { ok: false, fault: "the payload is not text" };
  return { ...read, payload };
};

/** What can be shown of bytes that are not text, up to a length. */
export const showBytes = (bytes: Uint8Array, limit: number): string =>
  storableText(lossyText.decode(bytes.subarray(0, limit)));
