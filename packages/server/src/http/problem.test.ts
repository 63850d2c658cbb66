import { type ErrorCode, ToolplaneError } from "@toolplane/protocol";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { problem } from "./problem.ts";

test.each<[ErrorCode, number, readonly string[]]>([
  ["breaker_open", 503, []],
  ["rate_limited", 429, []],
  ["storage_error", 503, ["storage_error"]],
  ["internal_error", 500, ["internal_error"]],
])("%s is answered with %i; a refusal by a rule is not told as a failure of the server", async (code, status, told) => {
  const failures: string[] = [];
  const app = new Hono();
  app.get("/", (context) =>
    problem(context, new ToolplaneError(code, "no"), { tell: (failure) => void failures.push(failure.code) }),
  );
  expect((await app.request("/")).status).toBe(status);
  expect(failures).toEqual(told);
});
