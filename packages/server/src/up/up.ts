// `toolplane up`: the whole stack in one process.

import type { UpIo, UpOptions } from "./up-options.ts";

export { processIo, type UpIo, type UpOptions } from "./up-options.ts";

/** Runs the stack until it is told to stop; resolves to the exit code: 0 drained, 1 failed, 2 wrong flags or configuration. */
export const runUp = async (_options: UpOptions, io: UpIo): Promise<number> => {
  io.stderr.write("toolplane up is not complete in this commit\n");
  return 1;
};
