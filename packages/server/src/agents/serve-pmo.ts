// The project manager of every project: its tools behind the runner, and the listeners for ends of its batches.

import { createPmo, PMO_SERVICE } from "@toolplane/agents";
import { type ServiceMeans, serveAcross } from "../gateway/serve-across.ts";

export interface PmoService {
  stop(drainMs: number): Promise<void>;
}

/** Each is a transaction or two: more at once would only wait for connections. */
const CONCURRENCY = 16;

export const servePmo = async (means: ServiceMeans): Promise<PmoService> => {
  const { engine, clock, log } = means;
  const pmo = createPmo({ engine, now: clock.now, log });
  const listening = await pmo.listen();
  const service = serveAcross({
    ...means,
    ...PMO_SERVICE,
    concurrency: CONCURRENCY,
    executorFor: () => pmo.executor,
  });
  return {
    async stop(drainMs) {
      await service.stop({ drainMs });
      await listening.stop();
    },
  };
};
