// The table of routes: the whole HTTP API but /health, /live and the login of browsers.

import type { Route } from "../http/route.ts";
import { actionRoutes } from "./actions.ts";
import { agentRoutes } from "./agents.ts";
import { approvalRoutes } from "./approvals.ts";
import { auditRoutes } from "./audit.ts";
import { callRoutes } from "./calls.ts";
import { cardRoutes } from "./cards.ts";
import { eventRoutes } from "./events.ts";
import { hostRoutes } from "./hosts.ts";
import { mcpRoutes } from "./mcp.ts";
import { operationRoutes } from "./operations.ts";
import { registryRoutes } from "./registry.ts";
import { serviceRoutes } from "./services.ts";
import { sessionRoutes } from "./sessions.ts";
import { traceRoutes } from "./traces.ts";
import { turnRoutes } from "./turns.ts";
import { webhookRoutes } from "./webhooks.ts";

export const routes: readonly Route[] = [
  ...callRoutes,
  ...serviceRoutes,
  ...registryRoutes,
  ...agentRoutes,
  ...approvalRoutes,
  ...turnRoutes,
  ...traceRoutes,
  ...actionRoutes,
  ...cardRoutes,
  ...operationRoutes,
  ...sessionRoutes,
  ...auditRoutes,
  ...hostRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...mcpRoutes,
];
