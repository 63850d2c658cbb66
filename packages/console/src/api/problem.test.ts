import { expect, test } from "vitest";
import { adviceFor, awayProblem, parseProblem, toProblem } from "./problem.ts";

test.each([
  [404, '{"error":{"code":"not_found","message":"no tool x","retryable":false}}', "not_found", "no tool x"],
  [502, "<html>Bad gateway</html>", "http_502", "The server answered with the status 502."],
  [500, '{"error":"no"}', "http_500", "The server answered with the status 500."],
])("an answer %i with %s is understood", (status, text, code, message) => {
  expect(parseProblem(status, text)).toMatchObject({ status, code, message });
});

test("the server's advice comes before ours", () => {
  const problem = parseProblem(403, '{"error":{"code":"auth_failed","message":"no","detail":{"todo":"use another"}}}');
  expect(adviceFor(problem)).toBe("use another");
  expect(adviceFor(parseProblem(403, '{"error":{"code":"auth_failed","message":"no"}}'))).toMatch(/^Log in/);
  expect(adviceFor(parseProblem(503, "{}"))).toMatch(/^Try again/);
  expect(adviceFor(awayProblem())).toMatch(/toolplane up/);
});

test("what was thrown elsewhere keeps its words", () => {
  expect(toProblem(new RangeError("too long"))).toMatchObject({ code: "console_error", message: "too long" });
});
