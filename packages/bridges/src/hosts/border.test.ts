import { encodeHostEvent, encodeHostFailure, encodeHostSuccess, parseHostLine } from "@toolplane/protocol/host";
import { describe, expect, test } from "vitest";
import { createBorder } from "./border.ts";

const border = createBorder(
  new Map([
    ["KEY", "hunter2/x"],
    ["SHORT", "eu"],
  ]),
);
const cross = (line: string, method: string): unknown => border.message(line, parseHostLine(line), method);
const success = (value: string, method: string): unknown =>
  cross(`{"v":1,"id":"1","ok":true,"result":{"value":${value},"state":{"k":"hunter2/x"}}}`, method);

describe("[SEC-7-H1] what crosses the border", () => {
  test.each([
    ["a value", '["hunter2/x", {"hunter2/x": 1}]', ["[redacted KEY]", { "[redacted KEY]": 1 }]],
    ["escapes that hide it", '"\\u0068unter2\\/x"', "[redacted KEY]"],
    ["a short value that stands alone", '"in eu, europe"', "in [redacted SHORT], europe"],
    ["nothing to hide", '{"a": [1, true, null]}', { a: [1, true, null] }],
  ])("%s", (_what, given, value) => {
    expect(success(given, "execute_tool")).toMatchObject({ value, state: { k: "hunter2/x" } });
  });

  test("a number is looked at as it is said by others", () => {
    const line = '{"v":1,"id":"1","ok":true,"result":{"value":123e2}}';
    const message = createBorder(new Map([["PIN", "12300"]])).message(line, parseHostLine(line), "execute_tool");
    expect(message).toMatchObject({ value: "[redacted PIN]" });
  });

  test("definitions keep short values, and init its state", () => {
    expect(success('[{"enum": ["eu"], "description": "hunter2/x"}]', "get_tool_schemas")).toMatchObject({
      value: [{ enum: ["eu"], description: "[redacted KEY]" }],
    });
    expect(success('{"k": "hunter2/x"}', "init")).toMatchObject({ value: { k: "hunter2/x" } });
  });

  test("errors, events and requests", () => {
    const failure = encodeHostFailure("1", { type: "hunter2/x", detail: "no hunter2/x", stack: "hunter2/x" });
    expect(cross(failure, "init")).toMatchObject({
      error: { type: "[redacted KEY]", detail: "no [redacted KEY]", stack: "[redacted KEY]" },
    });
    expect(JSON.stringify(cross(failure, "init"))).not.toContain("hunter2");
    expect(cross(encodeHostEvent("1", "part", "hunter2/x"), "execute_tool")).toMatchObject({
      event: { payload: "[redacted KEY]" },
    });
    expect(cross('{"v":1,"id":"1","method":"hunter2/x"}', "")).toMatchObject({ method: "[redacted KEY]" });
  });

  test("without secrets a message is passed as it is", () => {
    const line = encodeHostSuccess("1", "hunter2/x", undefined);
    const message = parseHostLine(line);
    expect(createBorder(new Map()).message(line, message, "x")).toBe(message);
  });
});

test("[SEC-7-H1] a text that was cut loses an end that may be the beginning of a secret", () => {
  expect(border.start("abc hunte")).toBe("abc ");
  expect(border.start("abc")).toBe("abc");
  expect(border.text("abc hunte")).toBe("abc hunte");
});
