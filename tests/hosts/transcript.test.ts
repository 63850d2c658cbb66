// A transcript written by hand, with nothing but printf, has the documented answers: every method, good and bad, on both hosts.

import { describe, expect, test } from "vitest";
import { type Answer, HOSTS, printInto, quoteForPrintf } from "./child-hosts.ts";
import { cases, no, ok } from "./child-transcript.ts";

/** printf turns the octal bytes and the carriage return into what they stand for; everything else is quoted. */
const typed = (line: string): string =>
  line.includes("\\377") || line.endsWith("\\r") ? line.replaceAll("%", "%%") : quoteForPrintf(line);

/** The last one has no end of line: the end of the input ends it too. */
const transcript = `${cases.map(({ line }) => typed(line)).join("\\n")}\\n{"v":1,"id":"last","method":"ping"}`;

describe.each(HOSTS)(
  "[HOST-1-H2] [HOST-2-H1] [HOST-2-H2] [HOST-2-H3] [HOST-3-7] [HOST-5-H1] printf into $name",
  (host) => {
    const { lines, stderr, code } = printInto(host.argv("child-plugin"), transcript);
    const nameless = lines.filter(({ id }) => id === null);

    test.each(cases.filter(({ id }) => id !== null))("[$rule] $name", ({ id, answer }) => {
      const found = lines.filter((line) => line.id === id);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ v: 1, ...answer });
      expect(Object.keys(found[0] as Answer).sort()).toEqual(
        ["id", "ok", "v", "ok" in answer && answer.ok === true ? "result" : "error"].sort(),
      );
    });

    test("[HOST-3-6] lines without a usable id are answered with id null, each one", () => {
      const expected = cases.filter(({ id }) => id === null).map(({ answer }) => answer);
      expect(nameless).toMatchObject(expected);
    });

    test("[HOST-3-8] nothing of it ends the host: the last request is answered, and it exits with 0 at the end of stdin", () => {
      expect(lines.find(({ id }) => id === "last")).toMatchObject(ok("pong"));
      expect(lines).toHaveLength(cases.length + 1);
      expect(code).toBe(0);
      expect(stderr).toBe("");
    });

    test("[HOST-3-4] what was thrown brings its stack", () => {
      const thrown = lines.filter(({ error }) => error?.type === "ShopClosed");
      expect(thrown).toHaveLength(2);
      for (const { error } of thrown) expect(error?.stack).toContain("child-plugin");
    });
  },
);

describe.each(HOSTS)("$name with a plugin that has the least", (host) => {
  const optional = [
    ["get_config_schema", "{}"],
    ["get_ui_elements", "{}"],
    ["get_tags", '{"config":{},"models":[]}'],
    ["required_tags", "{}"],
    ["format_tool_result", '{"result":1,"state":{}}'],
    ["format_tool_call_preview", '{"tool_name":"x","arguments":{},"state":{}}'],
    ["to_display_format", '{"text":"","result":1,"state":{}}'],
  ] as const;

  test("[HOST-2-H4] optional methods it lacks are MethodNotFound; init gives an empty state", () => {
    const asked = [["init", '{"config":{}}'], ...optional]
      .map(([method, params]) => `{"v":1,"id":"${method}","method":"${method}","params":${params}}\\n`)
      .join("");
    const { lines, code } = printInto(host.argv("child-bare"), asked);
    const byId = new Map(lines.map((line) => [line.id, line]));
    expect(byId.get("init")).toMatchObject(ok({}, {}));
    for (const [method] of optional) expect(byId.get(method)).toMatchObject(no("MethodNotFound"));
    expect(code).toBe(0);
  });
});

test.each(HOSTS)("[HOST-3-8] $name lives on after a number that no machine holds", (host) => {
  const line = (id: string, deadline: string): string =>
    `{"v":1,"id":"${id}","method":"execute_tool","params":{"tool_name":"echo","arguments":{},"state":{},"deadline_ms":${deadline}}}`;
  const wrong = [
    line("1", `1${"0".repeat(400)}`),
    line("2", "1e999"),
    line("3", "1e308"),
    line("4", "9".repeat(5_000)),
  ];
  const { lines, code } = printInto(
    host.argv("child-plugin"),
    `${wrong.join("\\n")}\\n{"v":1,"id":"last","method":"ping"}`,
  );
  expect([lines.length, code]).toEqual([5, 0]);
  expect(lines.find(({ id }) => id === "last")).toMatchObject(ok("pong"));
});
