// MCP over streamable HTTP: the tools of a project as MCP tools. POST carries messages; GET and DELETE are for the sessions of
// clients before 2026-07-28.

import { z } from "zod";
import { type Answers, NOTHING } from "../http/answers.ts";
import { CALLERS, type Method, type Route, route } from "../http/route.ts";

/** Loaded with the first request: a plane that no MCP client asks does not pay for the SDK of the protocol. */
const serve: Route["handle"] = async (call) => (await import("../mcp/mcp-front.ts")).serveMcp(call);

const message = z.record(z.string(), z.unknown()).meta({ description: "A message of MCP (JSON-RPC 2.0)." });
const stream = z.string().meta({ description: "Messages of MCP, one per event." });

const DOORS: readonly { readonly method: Method; readonly summary: string; readonly answers: Answers }[] = [
  {
    method: "POST",
    summary: "MCP: a message of a client; the tools of the project are MCP tools",
    answers: { 200: { "application/json": message, "text/event-stream": stream }, 202: NOTHING },
  },
  {
    method: "GET",
    summary: "MCP: the server's own messages of a session, for clients before 2026-07-28",
    answers: { 200: { "text/event-stream": stream } },
  },
  { method: "DELETE", summary: "MCP: end a session, for clients before 2026-07-28", answers: { 200: NOTHING } },
];

export const mcpRoutes: readonly Route[] = DOORS.map((door) =>
  route({ ...door, path: "/mcp/:project", roles: CALLERS, gives: "own", handle: serve }),
);
