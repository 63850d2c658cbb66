// The routes that need no token, as the description of the API has them; app.ts serves them.

import { z } from "zod";
import { NOTHING, text } from "./answers.ts";
import { whoamiBody } from "./whoami.ts";

const healthBody = z
  .strictObject({
    status: z.enum(["ok", "starting", "draining", "store_away", "store_refuses"]),
    version: text,
    protocol: text,
    store: z.enum(["embedded", "postgres"]),
    bus: z.enum(["postgres", "nats"]),
    bus_connected: z.boolean().optional(),
    roles: z.array(text),
    loop_pause_ms: z
      .number()
      .optional()
      .meta({ description: "The longest pause of the event loop in the last minute." }),
  })
  .meta({ id: "Health" });

export const PUBLIC_ROUTES = [
  {
    method: "GET",
    path: "/live",
    summary: "The process itself answers.",
    answers: { 200: z.strictObject({ status: z.literal("ok") }) },
  },
  {
    method: "GET",
    path: "/health",
    summary: "Whether this server can do its work now.",
    answers: { 200: healthBody, 503: healthBody },
  },
] as const;

/** Described with the others, served beside the table: a browser asks for a session before it has one, a scraper has its own token. */
export const OTHER_ROUTES = [
  {
    method: "POST",
    path: "/session",
    summary: "Logs a browser in with a one-time code or a token; the answer sets the session cookie.",
    shownBody: z.union([z.strictObject({ code: text }), z.strictObject({ token: text })]),
    answers: { 200: whoamiBody },
  },
  { method: "DELETE", path: "/session", summary: "Logs the browser out.", answers: { 204: NOTHING } },
  {
    method: "GET",
    path: "/metrics",
    roles: ["admin"],
    summary: "Prometheus text; also with the token of TOOLPLANE_METRICS_TOKEN.",
    answers: { 200: { "text/plain": z.string() } },
  },
] as const;
