// MCP over streamable HTTP: the tools of a project as MCP tools. POST carries messages; GET and DELETE are for the sessions of
// clients before 2026-07-28.

import { z } from "zod";
import { type Answers, anyObject, JSON_TYPE, NOTHING } from "../http/answers.ts";
import { CALLERS, type Method, type Route, route } from "../http/route.ts";
import { mcpQuery } from "../mcp/mcp-address.ts";

/** Loaded with the first request: a plane that no MCP client asks does not pay for the SDK of the protocol. */
const serve: Route["handle"] = async (call) => (await import("../mcp/mcp-front.ts")).serveMcp(call);

const EVENTS = "text/event-stream";
const messages = z.string().meta({ description: "Messages of MCP." });

const METHODS: readonly { readonly method: Method; readonly summary: string; readonly answers: Answers }[] = [
  {
    method: "POST",
    summary: "MCP: the tools of the project, listed and called as the protocol says.",
    answers: { 200: { [JSON_TYPE]: anyObject, [EVENTS]: messages }, 202: NOTHING },
  },
  { method: "GET", summary: "MCP: the events of a session.", answers: { 200: { [EVENTS]: messages } } },
  { method: "DELETE", summary: "MCP: ends a session.", answers: { 200: NOTHING, 204: NOTHING } },
];

export const mcpRoutes: readonly Route[] = METHODS.map((one) =>
  route({ ...one, path: "/mcp/:project", roles: CALLERS, gives: "own", isHot: true, query: mcpQuery, handle: serve }),
);
