// The public face of @toolplane/server: named exports only.

export { createEngineGateway, type EngineGatewayOptions } from "./gateway/engine-gateway.ts";
export { type AppOptions, createApp } from "./http/app.ts";
export { type Caller, type Route, type RouteCall, route } from "./http/route.ts";
export { routes } from "./routes/index.ts";
