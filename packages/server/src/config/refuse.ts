// What is wrong with the configuration or a flag: said with where it is, and always to be corrected by whoever starts us.

import { ToolplaneError } from "@toolplane/protocol";

export const refuseConfig = (message: string, cause?: unknown): ToolplaneError =>
  new ToolplaneError("bad_request", message, { detail: { todo: "correct it and start again" }, cause });
