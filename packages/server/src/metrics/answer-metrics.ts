// GET /metrics: for administrators, and for a scraper with a token of its own (TOOLPLANE_METRICS_TOKEN) that opens nothing else.
// The page tells names of tools and targets of all projects, so it is for no project's token.

import { createHash, timingSafeEqual } from "node:crypto";
import type { Engine } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import type { Context } from "hono";
import { authenticate } from "../http/authenticate.ts";

export interface MetricsDoor {
  readonly engine: Engine | undefined;
  readonly page: () => Promise<string>;
  readonly token: string | undefined;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const isScraper = (context: Context, token: string | undefined): boolean => {
  const [scheme, given, ...rest] = (context.req.header("authorization") ?? "").split(" ").filter(Boolean);
  if (token === undefined || scheme?.toLowerCase() !== "bearer" || given === undefined || rest.length > 0) return false;
  return timingSafeEqual(digest(given), digest(token));
};

export const answerMetrics = async ({ engine, page, token }: MetricsDoor, context: Context): Promise<Response> => {
  if (!isScraper(context, token)) {
    if (engine === undefined)
      throw new ToolplaneError("storage_error", "the server is starting; try again in a moment");
    const caller = await authenticate(engine, context);
    if (caller.token.role !== "admin" || caller.token.projectId !== null)
      throw new ToolplaneError(
        "auth_failed",
        "metrics are for administrators of the whole plane, and for a scraper with the token of TOOLPLANE_METRICS_TOKEN",
      );
  }
  return context.body(await page(), 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
};
