// http_get in a process that serves tools: with a way out of its own, which is closed after the service.

import { createApiEgress } from "../apis/serve-apis.ts";
import type { Settings } from "../config/settings.ts";
import type { ServiceMeans } from "../gateway/serve-across.ts";
import { serveHttpGet } from "./http-get.ts";

export interface RunningHttpGet {
  stop(drainMs: number): Promise<void>;
}

export const runHttpGet = ({
  settings,
  ...means
}: ServiceMeans & { readonly settings: Pick<Settings, "egressAllow" | "httpGetHosts"> }): RunningHttpGet => {
  const egress = createApiEgress(settings.egressAllow);
  const service = serveHttpGet({ ...means, egress, hosts: settings.httpGetHosts });
  return {
    async stop(drainMs) {
      await service.stop({ drainMs });
      await egress.close();
    },
  };
};
