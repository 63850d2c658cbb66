// @toolplane/server/internal: what the tests and the measurements of this repository need beyond the public face.
// Nothing here is a stable interface; shipped code of other packages may not import it.

export { type ImportWork, run as importHere } from "./apis/import-work.ts";
export { createImportThreads, type RunningApis, runApis } from "./apis/run-apis.ts";
export { checkApiTool, createApiEgress, serveApis } from "./apis/serve-apis.ts";
export { BUNDLED_TARGET, bundledDefinitions } from "./bundled/bundled-tools.ts";
export { serveHttpGet } from "./bundled/http-get.ts";
export { serveBundled } from "./bundled/serve-bundled.ts";
export { type CliIo, createCliIo } from "./cli/io.ts";
export { readSettings } from "./config/read-settings.ts";
export { CLAUSES } from "./conform/clauses.ts";
export { type ConformOptions, runConform } from "./conform/run-conform.ts";
export { createConsoleFiles } from "./console/console-files.ts";
export { NO_OFFSET } from "./gateway/clock-offset.ts";
export { createEngineGateway } from "./gateway/engine-gateway.ts";
export { createNatsGateway } from "./gateway/nats-gateway.ts";
export { HOST_CLAUSES } from "./hosts/check/clauses.ts";
export { type HostCheckOptions, runHostCheck } from "./hosts/check/run-check.ts";
export { readHostSettings } from "./hosts/host-settings.ts";
export { listHosts, startHosts, type ToolHosts } from "./hosts/tool-hosts.ts";
export { type AppOptions, createApp } from "./http/app.ts";
export type { Route } from "./http/route.ts";
export type { McpServers } from "./mcp-servers/mcp-servers.ts";
export type { McpSetting } from "./mcp-servers/mcp-settings.ts";
export { runMcpServers } from "./mcp-servers/run-mcp-servers.ts";
export { createPlaneMetrics } from "./metrics/plane-metrics.ts";
export { routes } from "./routes/index.ts";
export { createEnvSource, type EnvGrant } from "./secrets/env-grants.ts";
export { listen } from "./up/http-server.ts";
export { deliverWebhooks } from "./webhooks/deliver-webhooks.ts";
export { createSendDelivery, createWebhookEgress } from "./webhooks/send-delivery.ts";
export { createWebhookDoor } from "./webhooks/webhook-door.ts";
export { createWebhookKey } from "./webhooks/webhook-key.ts";
