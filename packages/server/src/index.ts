// The public face of @toolplane/server: named exports only.

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
export { NO_OFFSET } from "./gateway/clock-offset.ts";
export { createEngineGateway } from "./gateway/engine-gateway.ts";
export { createNatsGateway } from "./gateway/nats-gateway.ts";
export { HOST_CLAUSES } from "./hosts/check/clauses.ts";
export { type HostCheckOptions, runHostCheck } from "./hosts/check/run-check.ts";
export { readHostSettings } from "./hosts/host-settings.ts";
export { listHosts, startHosts, type ToolHosts } from "./hosts/tool-hosts.ts";
export { type AppOptions, createApp } from "./http/app.ts";
export type { Route } from "./http/route.ts";
export { type OpenPlaneOptions, type OwnPlane, openPlane, type ServeHereOptions } from "./plane/open-plane.ts";
export { routes } from "./routes/index.ts";
export { createEnvSource, type EnvGrant } from "./secrets/env-grants.ts";
export { listen } from "./up/http-server.ts";
