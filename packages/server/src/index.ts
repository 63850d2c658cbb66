// The public face of @toolplane/server: named exports only.

export { BUNDLED_TARGET, BUNDLED_TOOLS, bundledDefinitions } from "./bundled/bundled-tools.ts";
export { serveBundled } from "./bundled/serve-bundled.ts";
export { type CliIo, createCliIo } from "./cli/io.ts";
export { CLAUSES, type Clause, type ClauseId } from "./conform/clauses.ts";
export type { Connection } from "./conform/launch-command.ts";
export { type ConformOptions, runConform } from "./conform/run-conform.ts";
export type { LaunchedService } from "./conform/service-life.ts";
export { type ClockOffset, createClockOffset, NO_OFFSET } from "./gateway/clock-offset.ts";
export { createEngineGateway, type EngineGatewayOptions } from "./gateway/engine-gateway.ts";
export { createNatsGateway, type NatsGateway, type NatsGatewayOptions } from "./gateway/nats-gateway.ts";
export { HOST_CLAUSES, type HostClause, type HostClauseId } from "./hosts/check/clauses.ts";
export { type HostCheckOptions, runHostCheck } from "./hosts/check/run-check.ts";
export { type HostSetting, readHostSettings } from "./hosts/host-settings.ts";
export { listHosts, startHosts, type ToolHosts } from "./hosts/tool-hosts.ts";
export { type AppOptions, createApp } from "./http/app.ts";
export { type Caller, type Route, type RouteCall, route } from "./http/route.ts";
export { type OpenPlaneOptions, type OwnPlane, openPlane, type ServeHereOptions } from "./plane/open-plane.ts";
export { routes } from "./routes/index.ts";
export { type HttpServer, type ListenOptions, listen } from "./up/http-server.ts";
export { processIo, runUp, type UpIo, type UpOptions } from "./up/up.ts";
