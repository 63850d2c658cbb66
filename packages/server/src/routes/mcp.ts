// MCP over streamable HTTP: the tools of a project as MCP tools. POST carries messages; GET and DELETE are for the sessions of
// clients before 2026-07-28.

import { CALLERS, type Method, type Route, route } from "../http/route.ts";

/** Loaded with the first request: a plane that no MCP client asks does not pay for the SDK of the protocol. */
const serve: Route["handle"] = async (call) => (await import("../mcp/mcp-front.ts")).serveMcp(call);

const METHODS: readonly Method[] = ["POST", "GET", "DELETE"];

export const mcpRoutes: readonly Route[] = METHODS.map((method) =>
  route({ method, path: "/mcp/:project", roles: CALLERS, gives: "own", handle: serve }),
);
