// An error in the configuration or a flag: it names the place, and the operator who starts the server can correct it.

import { ToolplaneError } from "@toolplane/protocol";

export const refuseConfig = (message: string, cause?: unknown): ToolplaneError =>
  new ToolplaneError("bad_request", message, { detail: { todo: "correct it and start again" }, cause });
