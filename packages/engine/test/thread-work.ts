// Work for the tests of the threads: well behaved, failing, endless.

import { type ErrorCode, ToolplaneError } from "@toolplane/protocol";

interface Asked {
  readonly echo?: unknown;
  readonly refuse?: ErrorCode;
  readonly crash?: boolean;
  readonly endless?: boolean;
}

export const run = (asked: Asked): unknown => {
  if (asked.refuse !== undefined) throw new ToolplaneError(asked.refuse, "refused");
  if (asked.crash === true) throw new TypeError("crashed");
  if (asked.endless === true) for (;;);
  return asked.echo;
};
