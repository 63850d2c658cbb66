import { describe, expect, test } from "vitest";
import { createFakeTerminal } from "../../test/cli/fake-terminal.ts";
import { createOutput, mayColour } from "./output.ts";

const ESCAPE = "\u001b";

describe("output", () => {
  test("[API-2-K3] a table is aligned, says what is missing with -, and shows ids whole", () => {
    const terminal = createFakeTerminal();
    const rows = [
      { id: "tc_0198f2c1a0b07c3e8d5f6a7b8c9d0e1f", status: "success" },
      { id: "tc_1", status: null },
    ];
    createOutput(terminal.io, false).table(
      rows,
      [
        { title: "CALL", value: ({ id }) => id },
        { title: "STATUS", value: ({ status }) => status },
        { title: "ERROR", value: () => undefined },
      ],
      "nothing",
    );
    expect(terminal.out().split("\n")).toEqual([
      "CALL                                 STATUS   ERROR",
      "tc_0198f2c1a0b07c3e8d5f6a7b8c9d0e1f  success  -",
      "tc_1                                 -        -",
      "",
    ]);
  });

  test("an empty table is a sentence", () => {
    const terminal = createFakeTerminal();
    createOutput(terminal.io, false).table([], [{ title: "CALL", value: () => "" }], "there are none");
    expect(terminal.out()).toBe("there are none\n");
  });

  test("fields are aligned and leave out what is null", () => {
    const terminal = createFakeTerminal();
    createOutput(terminal.io, false).fields([
      ["call", "tc_1"],
      ["lease", null],
      ["settled by", { who: "x" }],
    ]);
    expect(terminal.out()).toBe('call        tc_1\nsettled by  {"who":"x"}\n');
  });

  test.each([
    ["a terminal", true, {}, true],
    ["a pipe", false, {}, false],
    ["a terminal with NO_COLOR", true, { NO_COLOR: "1" }, false],
    ["a terminal with an empty NO_COLOR", true, { NO_COLOR: "" }, true],
    ["a dumb terminal", true, { TERM: "dumb" }, false],
  ])("[API-2-15] %s: colours %s", (_, isTTY, env, coloured) => {
    expect(mayColour({ write: () => {}, isTTY }, env)).toBe(coloured);
    const terminal = createFakeTerminal({ tty: isTTY, env });
    createOutput(terminal.io, false).fields([["call", "tc_1"]]);
    expect(terminal.out().includes(ESCAPE)).toBe(coloured);
  });

  test("[API-2-15] progress is for a terminal, and is taken away before anything else is written", () => {
    const piped = createFakeTerminal();
    createOutput(piped.io, false).progress("waiting");
    expect(piped.err()).toBe("");
    const terminal = createFakeTerminal({ tty: true });
    const output = createOutput(terminal.io, false);
    output.progress("waiting");
    output.note("done");
    expect(terminal.err().endsWith(`waiting\r${ESCAPE}[Kdone\n`)).toBe(true);
  });
});
