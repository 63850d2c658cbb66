// An answer that is written line by line while its reader reads. One web stream, without the two more that a general helper adds:
// they would cost more than the rest of a small answer.

/** How much may wait for the reader before a writer has to wait. */
const HIGH_WATER_BYTES = 64 * 1024;

export interface LineStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when the reader has room for more. */
  write(text: string): Promise<void>;
  end(): void;
  /** The reader went away. */
  readonly gone: () => boolean;
}

export const createLineStream = (heardGone: () => void): LineStream => {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let gone = false;
  let roomy: (() => void) | undefined;
  const makeRoom = (): void => {
    roomy?.();
    roomy = undefined;
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given;
      },
      pull: makeRoom,
      cancel: () => {
        gone = true;
        makeRoom();
        heardGone();
      },
    },
    { highWaterMark: HIGH_WATER_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  return {
    body,
    async write(text) {
      if (gone || controller === undefined) return;
      controller.enqueue(encoder.encode(text));
      if ((controller.desiredSize ?? 1) > 0) return;
      await new Promise<void>((resolve) => {
        roomy = resolve;
      });
    },
    end: () => {
      if (!gone) controller?.close();
    },
    gone: () => gone,
  };
};
