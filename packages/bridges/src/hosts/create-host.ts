// Builds a supervised tool host.

import { UsageError } from "@toolplane/protocol";
import type { HostOptions, HostPorts, ToolHost } from "./host.ts";

export const createToolHost = (options: HostOptions, _ports: HostPorts = {}): ToolHost => {
  throw new UsageError(`${options.name}: hosts cannot be started yet`);
};
