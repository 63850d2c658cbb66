// The routes that need no token, as the description of the API has them; app.ts serves them.

import { z } from "zod";
import { text } from "./answers.ts";

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
