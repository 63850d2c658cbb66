// PostgreSQL's message frames, as far as a proxy needs them: where one ends, and which statement the client asks for.

/** One message: its type (empty for the very first, which has none) and all its bytes. */
export interface Frame {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface FrameReader {
  /** The frames completed by these bytes; the rest is kept. */
  read(chunk: Buffer): readonly Frame[];
}

const TYPE_BYTES = 1;
const LENGTH_BYTES = 4;

/** `untyped`: the first message has no type byte, as a client's has not. */
export const createFrameReader = (untyped: boolean): FrameReader => {
  let kept = Buffer.alloc(0);
  let first = untyped;
  return {
    read(chunk) {
      kept = Buffer.concat([kept, chunk]);
      const frames: Frame[] = [];
      for (;;) {
        const head = first ? 0 : TYPE_BYTES;
        if (kept.length < head + LENGTH_BYTES) return frames;
        // The length counts itself and not the type.
        const end = head + kept.readInt32BE(head);
        if (kept.length < end) return frames;
        frames.push({ type: first ? "" : String.fromCharCode(kept[0] ?? 0), bytes: kept.subarray(0, end) });
        kept = kept.subarray(end);
        first = false;
      }
    },
  };
};

const textAt = (bytes: Buffer, start: number): string => bytes.toString("utf8", start, bytes.indexOf(0, start));

/** The named statement a Bind runs, the text of a simple query, or undefined for every other message. */
export const tryReadStatement = ({ type, bytes }: Frame): string | undefined => {
  const start = TYPE_BYTES + LENGTH_BYTES;
  if (type === "Q") return textAt(bytes, start);
  if (type !== "B") return undefined;
  return textAt(bytes, bytes.indexOf(0, start) + 1);
};

/** The client's last word of one request: a Sync, or a simple query, which is its own. */
export const endsRequest = ({ type }: Frame): boolean => type === "S" || type === "Q";

/** The server's last word of one answer: everything the request did is committed or rolled back. */
export const endsAnswer = ({ type }: Frame): boolean => type === "Z";
