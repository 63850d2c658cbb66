// Serves the bundled tools in every project that has them.

import { sha256 } from "@toolplane/engine";
import { createFunctionExecutor, createIds, type Tool, type ToolService } from "@toolplane/sdk";
import { type ServiceMeans, serveAcross } from "../gateway/serve-across.ts";
import { BUNDLED_TARGET, BUNDLED_TOOLS } from "./bundled-tools.ts";
import { createContextMerge } from "./context-merge.ts";
import { createEmitMarker } from "./emit-marker.ts";

/** They mostly wait, so run as many as one claim takes: a few long sleeps must not keep an echo waiting. */
const CONCURRENCY = 256;

export const serveBundled = (means: ServiceMeans): ToolService => {
  const { engine, clock } = means;
  const marker = createEmitMarker({ bus: engine.bus, ids: createIds(clock.now), now: clock.now });
  const tools: readonly Tool[] = [...BUNDLED_TOOLS, createContextMerge(engine), marker];
  return serveAcross({
    ...means,
    target: BUNDLED_TARGET,
    actor: `tool.${BUNDLED_TARGET}`,
    concurrency: CONCURRENCY,
    executorFor: (projectId) => createFunctionExecutor({ tools, sha256, projectId, target: BUNDLED_TARGET }),
  });
};
