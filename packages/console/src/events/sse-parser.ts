// Server-sent events from pieces of text, however they are cut. Pure but for what it keeps of an unfinished event.

export interface SentEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Longer events are not ours: a card has at most 1 MiB, and a part of a result far less. */
const MOST_CHARS = 24 * 1024 * 1024;

export interface SseParser {
  /** The events that end in this piece. An event without data only moves the id. */
  feed(piece: string): readonly SentEvent[];
}

const parseBlock = (block: string): SentEvent => {
  let event = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") event = value;
    if (field === "data") data.push(value);
    if (field === "id") id = value;
  }
  return { event, data: data.join("\n"), id };
};

export const createSseParser = (): SseParser => {
  let rest = "";
  return {
    feed(piece) {
      rest += piece.replaceAll("\r", "");
      const events: SentEvent[] = [];
      for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n")) {
        const found = parseBlock(rest.slice(0, end));
        rest = rest.slice(end + 2);
        if (found.data !== "" || found.id !== undefined) events.push(found);
      }
      if (rest.length > MOST_CHARS) rest = "";
      return events;
    },
  };
};
