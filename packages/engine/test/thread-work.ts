// Work for the tests of the threads: well behaved, failing, endless, and out of reach inside of a native call.

import { execFileSync } from "node:child_process";
import { type ErrorCode, ToolplaneError } from "@toolplane/protocol";

interface Asked {
  readonly echo?: unknown;
  readonly refuse?: ErrorCode;
  readonly crash?: boolean;
  readonly endless?: boolean;
  readonly stuckSeconds?: number;
}

export const run = (asked: Asked): unknown => {
  if (asked.refuse !== undefined) throw new ToolplaneError(asked.refuse, "refused");
  if (asked.crash === true) throw new TypeError("crashed");
  if (asked.endless === true) for (;;);
  // Nothing can end a thread that waits in here.
  if (asked.stuckSeconds !== undefined)
    execFileSync("sleep", [String(asked.stuckSeconds)], { env: { PATH: "/usr/bin:/bin" } });
  return asked.echo;
};
