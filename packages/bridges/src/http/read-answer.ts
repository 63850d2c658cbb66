// Reads the answer of an API. The egress guard bounds its size and its time; of a failed answer only the beginning is read.

import type { HttpAnswer } from "./plan-answer.ts";

/** More than is stored of a failed answer. */
const MAX_FAILED_BYTES = 16 * 1024;

const readStart = async (body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> => {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < maxBytes) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    chunks.push(value);
    bytes += value.byteLength;
  }
  await reader.cancel();
  return Buffer.concat(chunks).subarray(0, maxBytes);
};

export const readAnswer = async (response: Response, startedAt: number, now: () => number): Promise<HttpAnswer> => {
  const { status, headers } = response;
  const body = response.ok
    ? new Uint8Array(await response.arrayBuffer())
    : await readStart(response.body, MAX_FAILED_BYTES);
  return {
    status,
    contentType: headers.get("content-type") ?? "",
    retryAfter: headers.get("retry-after") ?? undefined,
    host: new URL(response.url).host,
    body,
    latencyMs: Math.round(now() - startedAt),
  };
};
