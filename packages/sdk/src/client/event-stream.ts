// Reads server-sent events from a byte stream: fields by line, an empty line ends an event, comments are dropped. Events that one
// chunk of the stream completes are given together. Bounded: an event that never ends must not fill the memory.

import { ToolplaneError } from "@toolplane/protocol";
import type { RawEvent } from "./way.ts";

/** More than any message of the bus can be. */
const MAX_EVENT_CHARS = 32 * 1024 * 1024;

interface Draft {
  id: string | undefined;
  event: string;
  data: string[];
}

const emptyDraft = (): Draft => ({ id: undefined, event: "message", data: [] });

const take = (draft: Draft, line: string): void => {
  const colon = line.indexOf(":");
  const field = colon < 0 ? line : line.slice(0, colon);
  const after = colon < 0 ? "" : line.slice(colon + 1);
  const value = after.startsWith(" ") ? after.slice(1) : after;
  if (field === "data") draft.data.push(value);
  else if (field === "event") draft.event = value;
  else if (field === "id") draft.id = value;
};

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly RawEvent[]> {
  const decoder = new TextDecoder();
  let rest = "";
  let size = 0;
  let draft = emptyDraft();
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    size += text.length;
    if (size > MAX_EVENT_CHARS)
      throw new ToolplaneError("upstream_unavailable", "the server sent an event without an end");
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    const events: RawEvent[] = [];
    for (const line of lines.map(withoutReturn)) {
      if (line !== "") {
        take(draft, line);
        continue;
      }
      const { id, event, data } = draft;
      // An event with an id and no data says how far the log has come.
      if (data.length > 0 || id !== undefined) events.push({ id, event, data: data.join("\n") });
      draft = emptyDraft();
      size = rest.length;
    }
    if (events.length > 0) yield events;
  }
}
