import { ERROR_CODES, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createFakeTerminal, refused } from "../../test/cli/fake-terminal.ts";
import { describeFailure, formatFailure } from "./error-line.ts";

describe("an error", () => {
  test.each(ERROR_CODES)("[API-2-14] %s is one line with its code and what to do", (code) => {
    const line = formatFailure(describeFailure(new ToolplaneError(code, "it is\nso")), false);
    expect(line.startsWith(`toolplane: ${code}: it is so; `)).toBe(true);
    expect(line.length).toBeGreaterThan(`toolplane: ${code}: it is so; `.length + 10);
  });

  test("says its advice once", () => {
    const error = new ToolplaneError("storage_error", "the server is starting; try again in a moment");
    expect(formatFailure(describeFailure(error), false)).toBe(
      "toolplane: storage_error: the server is starting; try again in a moment",
    );
  });

  test("says the pause of a limit once, also when the message ends with it as an estimate", () => {
    const detail = { retry_after_seconds: 60 };
    const error = new ToolplaneError("rate_limited", "the queue is full; as an estimate, try again in 60 s", {
      detail,
    });
    expect(formatFailure(describeFailure(error), false)).toBe(
      "toolplane: rate_limited: the queue is full; as an estimate, try again in 60 s",
    );
  });

  test("brings its own advice when it has one, and keeps it out of the detail", () => {
    const failure = describeFailure(
      new ToolplaneError("conflict", "no", { detail: { todo: "stop it first", pid: 5 } }),
    );
    expect(failure).toEqual({ code: "conflict", message: "no", todo: "stop it first", detail: { pid: 5 } });
  });

  test("[API-2-14] the stack comes only with --verbose", async () => {
    const quiet = createFakeTerminal({ answer: () => ({ fail: refused() }) });
    expect(await quiet.run("projects", "list")).toBe(1);
    expect(quiet.err()).toBe(
      "toolplane: upstream_unavailable: no server answers at http://127.0.0.1:7420; start it with: toolplane up (or name another one with --url)\n",
    );
    const verbose = createFakeTerminal({ answer: () => ({ fail: refused() }) });
    await verbose.run("projects", "list", "--verbose");
    expect(verbose.err()).toMatch(/\n {4}at /);
    expect(verbose.err()).toContain("caused by: ");
  });

  test("[SEE-13] a token that was refused is named by where it came from", async () => {
    const body = { error: { code: "unauthorized", message: "the token is not known" } };
    const answer = () => ({ status: 401, body });
    const fromEnv = createFakeTerminal({ answer, env: { TOOLPLANE_TOKEN: "tp_old" } });
    await fromEnv.run("projects", "list");
    expect(fromEnv.err()).toContain("the token came from TOOLPLANE_TOKEN: unset the variable");
    const fromFlag = createFakeTerminal({ answer, env: { TOOLPLANE_TOKEN: "tp_old" } });
    await fromFlag.run("projects", "list", "--token", "tp_other");
    expect(fromFlag.err()).not.toContain("came from");
  });

  test("[API-2-13] with --json it is one line of JSON", async () => {
    const body = { error: { code: "not_found", message: "there is no project x", retryable: false } };
    const terminal = createFakeTerminal({ answer: () => ({ status: 404, body }) });
    expect(await terminal.run("projects", "show", "x", "--json")).toBe(1);
    expect(JSON.parse(terminal.err())).toEqual({
      error: { code: "not_found", message: "there is no project x", todo: "check the name and --project" },
    });
  });

  test.each([
    [
      "a page of another server",
      { status: 200, body: "<html>" },
      "upstream_unavailable",
      "answered 200, and not as a Toolplane server does; check --url",
    ],
    [
      "an error of another server",
      { status: 502, body: "bad gateway" },
      "upstream_unavailable",
      "answered 502, and not as",
    ],
    ["a redirect", { status: 302, body: "" }, "upstream_unavailable", "answered 302, and not as"],
    [
      "no token",
      { status: 401, body: { error: { code: "unauthorized", message: "send one" } } },
      "unauthorized",
      "wants a token and none was found; pass --token, set TOOLPLANE_TOKEN",
    ],
    [
      "a code of a newer server",
      { status: 418, body: { error: { code: "teapot", message: "short and stout" } } },
      "internal_error",
      "short and stout",
    ],
  ])("%s", async (_, answer, code, text) => {
    const terminal = createFakeTerminal({ answer: () => answer });
    expect(await terminal.run("projects", "list")).toBe(1);
    expect(terminal.err().startsWith(`toolplane: ${code}: `)).toBe(true);
    expect(terminal.err()).toContain(text);
  });
});
