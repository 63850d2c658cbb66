// What runs in a process that serves API tools.

import type { ToolService } from "@toolplane/sdk";
import type { Settings } from "../config/settings.ts";
import type { ServiceMeans } from "../gateway/serve-across.ts";
import { createEnvSource } from "../secrets/env-grants.ts";
import { createApiEgress, serveApis } from "./serve-apis.ts";

export interface RunApisOptions extends ServiceMeans {
  readonly settings: Pick<Settings, "egressAllow" | "envGrants" | "serviceEnvs">;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface RunningApis {
  stop(drainMs: number): Promise<void>;
}

export const runApis = ({ settings, env, ...means }: RunApisOptions): RunningApis => {
  const egress = createApiEgress(settings.egressAllow);
  const envSource = createEnvSource(settings.envGrants, env);
  const service: ToolService = serveApis({ ...means, egress, envSource, serviceEnvs: settings.serviceEnvs });
  return {
    async stop(drainMs) {
      await service.stop({ drainMs });
      await egress.close();
    },
  };
};
