// A request body, bounded: the declared length is believed only when it is too large, the bytes are counted anyway.

import { ToolplaneError } from "@toolplane/protocol";

const tooLarge = (maxBytes: number): ToolplaneError =>
  new ToolplaneError("payload_too_large", `the body is larger than ${maxBytes} bytes`, {
    detail: { max_bytes: maxBytes },
  });

export const readBody = async (request: Request, maxBytes: number): Promise<string> => {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new ToolplaneError("bad_request", "the body is not UTF-8 text");
  }
};
