// The public face of @toolplane/server: named exports only.

export { type AppOptions, createApp } from "./http/app.ts";
export { type Caller, type Route, type RouteCall, route } from "./http/route.ts";
export { routes } from "./routes/index.ts";
