// Lines out of a byte stream, as they come. Bounded: a line that never ends must not fill the memory.

import { ToolplaneError } from "@toolplane/protocol";

/** More than the largest result the plane stores. */
const MAX_LINE_CHARS = 64 * 1024 * 1024;

export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const lines = decoder.decode(chunk, { stream: true }).split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      yield parts.length === 0 ? line : `${parts.join("")}${line}`;
      parts.length = 0;
      size = 0;
    }
    if (rest !== "") parts.push(rest);
    size += rest.length;
    if (size > MAX_LINE_CHARS)
      throw new ToolplaneError("upstream_unavailable", "the server sent a line without an end");
  }
  if (parts.length > 0) yield parts.join("");
}
