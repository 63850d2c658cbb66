import { expect, test } from "vitest";
import { createFakeTerminal } from "../../../test/cli/fake-terminal.ts";

test.each([[[]], [["--targets", " , "]]])(
  "a tool's token without targets (%j) says which flag is missing",
  async (more) => {
    const terminal = createFakeTerminal({});
    expect(await terminal.run("token", "create", "--role", "tool", ...more)).toBe(2);
    expect(terminal.err()).toContain("--role tool needs --targets NAME");
    expect(terminal.requests).toEqual([]);
  },
);
