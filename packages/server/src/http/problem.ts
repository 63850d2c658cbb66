// Every error that leaves the API, in one shape: {"error": {code, message, detail?, retryable}} with the code's status.
// What nobody foresaw is logged with its cause and shown without it (I8).

import type { Log } from "@toolplane/engine";
import { isToolplaneError, ToolplaneError, understandError } from "@toolplane/protocol";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

export const problem = (context: Context, error: unknown, log: Log): Response => {
  const known = isToolplaneError(error) ? error : understandError(error);
  if (known.http >= 500)
    log.error("a request failed", {
      path: context.req.path,
      method: context.req.method,
      code: known.code,
      cause: String(known.cause ?? error),
    });
  if (known.code === "rate_limited" || known.code === "storage_error") context.header("Retry-After", "1");
  return context.json({ error: known.toWire() }, known.http as ContentfulStatusCode);
};

export const notThere = (path: string): ToolplaneError =>
  new ToolplaneError("not_found", `there is nothing at ${path}; the routes are listed in docs/reference/http-api.md`);
