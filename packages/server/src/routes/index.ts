// The table of routes: the whole HTTP API but /health, /live and the login of browsers.

import type { Route } from "../http/route.ts";
import { actionRoutes } from "./actions.ts";
import { agentRoutes } from "./agents.ts";
import { approvalRoutes } from "./approvals.ts";
import { auditRoutes } from "./audit.ts";
import { batchRoutes } from "./batches.ts";
import { callRoutes } from "./calls.ts";
import { cardRoutes } from "./cards.ts";
import { eventRoutes } from "./events.ts";
import { hostRoutes } from "./hosts.ts";
import { limitRoutes } from "./limits.ts";
import { mcpRoutes } from "./mcp.ts";
import { operationRoutes } from "./operations.ts";
import { partRoutes } from "./parts.ts";
import { referenceRoutes } from "./reference.ts";
import { registryRoutes } from "./registry.ts";
import { serviceRoutes } from "./services.ts";
import { sessionRoutes } from "./sessions.ts";
import { stateRoutes } from "./state.ts";
import { traceRoutes } from "./traces.ts";
import { turnRoutes } from "./turns.ts";
import { webhookRoutes } from "./webhooks.ts";
import { whoamiRoutes } from "./whoami.ts";

export const routes: readonly Route[] = [
  ...whoamiRoutes,
  ...referenceRoutes(() => routes),
  ...callRoutes,
  ...partRoutes,
  ...serviceRoutes,
  ...registryRoutes,
  ...limitRoutes,
  ...agentRoutes,
  ...approvalRoutes,
  ...turnRoutes,
  ...traceRoutes,
  ...stateRoutes,
  ...actionRoutes,
  ...cardRoutes,
  ...batchRoutes,
  ...operationRoutes,
  ...sessionRoutes,
  ...auditRoutes,
  ...hostRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...mcpRoutes,
];
