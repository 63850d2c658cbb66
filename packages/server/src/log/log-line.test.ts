import { describe, expect, test } from "vitest";
import { createLog, parseLogLevel } from "./log.ts";
import { formatLogLine } from "./log-line.ts";

const entry = (fields: object): string =>
  `${JSON.stringify({ level: "info", time: "2026-11-15T04:05:06.789Z", ...fields })}\n`;

test.each<[string, object, string]>([
  ["a message", { msg: "ready" }, "04:05:06 ready\n"],
  ["with fields", { msg: "ready", url: "http://x", ms: 12 }, "04:05:06 ready url=http://x ms=12\n"],
  ["a warning", { level: "warn", msg: "away" }, "04:05:06 warn: away\n"],
  ["text with blanks", { msg: "m", reason: "it is so" }, '04:05:06 m reason="it is so"\n'],
  ["nothing to show", { msg: "m", a: null }, "04:05:06 m\n"],
  ["an escape and a line break", { msg: "m", reason: "a\u001b[31mb\nc" }, "04:05:06 m reason=a?[31mb?c\n"],
])("a person reads %s", (_what, fields, expected) => {
  expect(formatLogLine(entry(fields))).toBe(expected);
});

test("what is not JSON is shown as it is", () => {
  expect(formatLogLine("words\n")).toBe("words\n");
});

describe("createLog", () => {
  const collect = (level: "info" | "warn", pretty = false): { lines: string[]; log: ReturnType<typeof createLog> } => {
    const lines: string[] = [];
    return { lines, log: createLog({ write: (line) => void lines.push(line), pretty, level }) };
  };

  test("[UP-4-2] a machine reads one JSON object per line", () => {
    const { lines, log } = collect("info");
    log.info("ready", { url: "http://x" });
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      url: "http://x",
      msg: "ready",
    });
    expect(lines[0]?.endsWith("\n")).toBe(true);
  });

  test("below its level nothing is written", () => {
    const { lines, log } = collect("warn", true);
    log.info("no");
    log.warn("yes");
    log.error("and this");
    expect(lines.map((line) => line.slice(9))).toEqual(["warn: yes\n", "error: and this\n"]);
  });

  test("levels", () => {
    expect(parseLogLevel("WARN")).toBe("warn");
    expect(() => parseLogLevel("x")).toThrow("TOOLPLANE_LOG_LEVEL");
  });
});
