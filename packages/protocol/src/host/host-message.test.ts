import { describe, expect, test } from "vitest";
import { failure } from "../../test/refusals.ts";
import {
  encodeHostCall,
  encodeHostEvent,
  encodeHostFailure,
  encodeHostRequest,
  encodeHostSuccess,
} from "./host-encode.ts";
import { agreedExtensions, HOST_EXTENSIONS, readHostLog } from "./host-extensions.ts";
import { type HostSuccess, parseHostLine } from "./host-message.ts";
import {
  carriesState,
  HOST_PARAMS,
  methodNotFound,
  OPTIONAL_HOST_METHODS,
  parseHostParams,
  REQUIRED_HOST_METHODS,
} from "./host-methods.ts";
import { initialState, isNotOffered, parseHostValue, parseToolOutcome, readFormattedResult } from "./host-values.ts";
import { readHostTools } from "./tool-schemas.ts";

describe("lines", () => {
  test("[HOST-1-C1] what is encoded is one line of JSON and reads back", () => {
    const params = { text: "two\nlines \u2028 \u{1f600}" };
    const lines = [
      encodeHostRequest("1", "ping", params),
      encodeHostCall('"\n', { toolName: 't"\n', arguments: params, state: { s: 1 }, deadlineMs: 5 }),
      encodeHostCall("1", { toolName: "t", arguments: {}, state: {} }),
      encodeHostSuccess('"\n', params),
      encodeHostSuccess("1", { a: [1] }, { s: 1 }),
      encodeHostSuccess("1", null),
      encodeHostFailure(null, { type: "ParseError", detail: "d" }),
      encodeHostFailure("1", { type: "E", detail: "d", stack: "s" }),
      encodeHostEvent("1", "part", [1]),
    ];
    for (const line of lines) expect([line.endsWith("\n"), line.indexOf("\n")]).toEqual([true, line.length - 1]);
    expect(lines.map((line) => parseHostLine(line))).toEqual([
      { kind: "request", id: "1", method: "ping", params },
      {
        kind: "request",
        id: '"\n',
        method: "execute_tool",
        params: { tool_name: 't"\n', arguments: params, state: { s: 1 }, deadline_ms: 5 },
      },
      { kind: "request", id: "1", method: "execute_tool", params: { tool_name: "t", arguments: {}, state: {} } },
      { kind: "response", id: '"\n', ok: true, value: params, state: undefined },
      { kind: "response", id: "1", ok: true, value: { a: [1] }, state: { s: 1 } },
      { kind: "response", id: "1", ok: true, value: null, state: undefined },
      { kind: "response", id: null, ok: false, error: { type: "ParseError", detail: "d" } },
      { kind: "response", id: "1", ok: false, error: { type: "E", detail: "d", stack: "s" } },
      { kind: "event", id: "1", event: { type: "part", payload: [1] } },
    ]);
  });

  test("[HOST-1-C2] a carriage return at the end is tolerated", () => {
    expect(parseHostLine('{"v":1,"id":"a","method":"ping"}\r')).toMatchObject({ kind: "request" });
  });

  const refused: readonly [string, string, string, string | null][] = [
    ["text that is not JSON", "Loading model...", "ParseError", null],
    ["an empty line", "", "ParseError", null],
    ["a list", "[]", "ParseError", null],
    [
      "a line that is too deep",
      `{"v":1,"id":"a","method":"m","params":${'{"a":'.repeat(80)}1${"}".repeat(80)}}`,
      "ParseError",
      null,
    ],
    ["another version", '{"v":2,"id":"a","method":"ping"}', "VersionError", "a"],
    ["no version", '{"id":"a","method":"ping"}', "VersionError", "a"],
    ["no id", '{"v":1,"method":"ping"}', "InvalidParams", null],
    ["a null id on a request", '{"v":1,"id":null,"method":"ping"}', "InvalidParams", null],
    ["params that are a list", '{"v":1,"id":"a","method":"ping","params":[]}', "InvalidParams", "a"],
    ["an event without a type", '{"v":1,"id":"a","event":{}}', "InvalidParams", "a"],
    ["nothing at all", '{"v":1,"id":"a"}', "InvalidParams", "a"],
  ];
  test.each(refused)("[HOST-1-C3] %s is answered with a host error and its id", (_name, line, type, id) => {
    expect(failure(() => parseHostLine(line)).detail).toEqual({ type, id });
  });

  test("[HOST-1-C4] a line over the limit is refused before it is read", () => {
    expect(failure(() => parseHostLine(`{"v":1,"id":"${"x".repeat(100)}"}`, { maxBytes: 50 })).code).toBe(
      "payload_too_large",
    );
  });

  test("[HOST-1-C5] keys nobody knows are ignored", () => {
    expect(parseHostLine('{"v":1,"id":"a","method":"ping","priority":1}')).toEqual({
      kind: "request",
      id: "a",
      method: "ping",
      params: {},
    });
  });

  test("[SEC-9-C1] a line cannot smuggle a prototype in", () => {
    const request = parseHostLine(
      '{"v":1,"id":"a","method":"m","params":{"__proto__":{"x":1},"arguments":{"\\u005f_proto__":1}}}',
    );
    expect(request).toMatchObject({ params: { arguments: {} } });
    expect(Object.keys((request as { params: object }).params)).toEqual(["arguments"]);
  });
});

describe("methods", () => {
  test("[HOST-2-C1] three required methods, seven optional ones, four by extension", () => {
    expect(REQUIRED_HOST_METHODS).toEqual(["init", "get_tool_schemas", "execute_tool"]);
    expect(OPTIONAL_HOST_METHODS).toHaveLength(7);
    expect(Object.keys(HOST_PARAMS)).toEqual([
      ...REQUIRED_HOST_METHODS,
      ...OPTIONAL_HOST_METHODS,
      "hello",
      "cancel",
      "ping",
      "shutdown",
    ]);
  });

  const call = { tool_name: "t", arguments: {}, state: {} };
  const good: readonly [keyof typeof HOST_PARAMS, Record<string, never> | object][] = [
    ["init", { config: {} }],
    ["get_tool_schemas", { state: {} }],
    ["execute_tool", call],
    ["execute_tool", { ...call, deadline_ms: 5 }],
    ["get_config_schema", {}],
    ["get_ui_elements", {}],
    ["get_tags", { config: {}, models: [{}] }],
    ["required_tags", {}],
    ["format_tool_result", { result: null, state: {} }],
    ["format_tool_call_preview", call],
    ["to_display_format", { text: "", result: 1, state: {} }],
    ["hello", { extensions: [] }],
    ["cancel", { id: "a" }],
    ["ping", {}],
    ["shutdown", {}],
  ];
  test.each(good)("[HOST-2-C2] params of %s", (method, params) => {
    expect(parseHostParams(method, params as never, "1")).toEqual(params);
  });

  const bad: readonly [keyof typeof HOST_PARAMS, object][] = [
    ["init", {}],
    ["get_tool_schemas", { state: [] }],
    ["execute_tool", { ...call, tool_name: "" }],
    ["execute_tool", { ...call, arguments: null }],
    ["execute_tool", { tool_name: "t", arguments: {} }],
    ["execute_tool", { ...call, deadline_ms: -1 }],
    ["get_tags", { config: {} }],
    ["format_tool_result", { state: {} }],
    ["to_display_format", { text: 1, result: 1, state: {} }],
    ["hello", { extensions: "cancel" }],
    ["cancel", {}],
  ];
  test.each(bad)("[HOST-2-C3] wrong params of %s: %j", (method, params) => {
    expect(failure(() => parseHostParams(method, params as never, "7")).detail).toEqual({
      type: "InvalidParams",
      id: "7",
    });
  });

  test("[HOST-2-C4] a response carries the state when its request did, and after init", () => {
    expect(carriesState("init", { config: {} })).toBe(true);
    expect(carriesState("execute_tool", { state: {} })).toBe(true);
    expect(carriesState("get_tags", {})).toBe(false);
  });

  test("[HOST-2-C5] a method a host lacks is MethodNotFound, which is not a failure", () => {
    expect(methodNotFound("fly", "1").detail).toEqual({ type: "MethodNotFound", id: "1" });
    const response = { kind: "response", id: "1", ok: false, error: { type: "MethodNotFound", detail: "" } } as const;
    expect(isNotOffered(response)).toBe(true);
    expect(isNotOffered({ ...response, error: { type: "TypeError", detail: "" } })).toBe(false);
  });
});

describe("answers", () => {
  test("[HOST-2-C6] execute_tool answers with success and result, or with an error text", () => {
    expect(parseToolOutcome({ success: true, result: [1] })).toEqual({ success: true, result: [1] });
    expect(parseToolOutcome({ success: true })).toEqual({ success: true, result: null });
    expect(parseToolOutcome({ success: false, error: "no" })).toEqual({ success: false, error: "no" });
    expect(parseToolOutcome({ success: false, error: { a: 1 } })).toEqual({ success: false, error: '{"a":1}' });
    expect(parseToolOutcome({ success: false })).toMatchObject({ error: "the tool failed without saying why" });
    for (const value of [null, "ok", [], { result: 1 }, { success: "yes" }]) {
      expect(failure(() => parseToolOutcome(value)).code).toBe("protocol_violation");
    }
  });

  test("[HOST-2-C7] init answers with the state, as value or beside it", () => {
    const response: HostSuccess = { kind: "response", id: "1", ok: true, value: { from: "value" }, state: undefined };
    expect(initialState(response)).toEqual({ from: "value" });
    expect(initialState({ ...response, state: { from: "state" } })).toEqual({ from: "state" });
    expect(initialState({ ...response, value: null })).toEqual({});
  });

  test("[HOST-2-C8] format_tool_result: a text, the explicit envelope, or an object made text", () => {
    const native = { type: "provider_native_tool_result", format: "openai.responses", output: [] };
    expect(readFormattedResult("hi")).toEqual({ kind: "text", text: "hi" });
    expect(readFormattedResult(native)).toEqual({ kind: "native", format: "openai.responses", envelope: native });
    expect(readFormattedResult({ ...native, format: "openai.chat_completions" })).toMatchObject({ kind: "native" });
    for (const other of [{ ...native, format: "acme" }, { ...native, type: "x" }, { a: 1 }, [native], null]) {
      expect(readFormattedResult(other)).toEqual({ kind: "text", text: JSON.stringify(other) });
    }
  });

  test("[HOST-2-C9] the other answers have their shapes", () => {
    expect(parseHostValue("get_tags", ["a"])).toEqual(["a"]);
    expect(parseHostValue("required_tags", [])).toEqual([]);
    expect(parseHostValue("get_config_schema", { type: "object" })).toEqual({ type: "object" });
    expect(parseHostValue("get_ui_elements", [{ id: 1 }])).toEqual([{ id: 1 }]);
    expect(parseHostValue("format_tool_call_preview", "count(...)")).toBe("count(...)");
    expect(parseHostValue("to_display_format", { html: "" })).toEqual({ html: "" });
    for (const [method, value] of [
      ["get_tags", [1]],
      ["get_ui_elements", ["x"]],
      ["to_display_format", "x"],
      ["get_config_schema", null],
    ] as const) {
      expect(failure(() => parseHostValue(method, value)).code).toBe("protocol_violation");
    }
  });

  test("[HOST-2-C10] both forms of a tool schema are read, bad ones are named and skipped", () => {
    const parameters = { type: "object", properties: { a: {} } };
    const { tools, refused } = readHostTools([
      { name: "plain", description: "d", parameters },
      { type: "function", function: { name: "wrapped", parameters } },
      { type: "function", name: "flat" },
      { name: "bad name!" },
      { description: "nameless" },
      { name: "odd", parameters: "x" },
      { name: "wordy", description: 5 },
      { name: "plain" },
      "text",
    ]);
    expect(tools).toEqual([
      { name: "plain", description: "d", parameters },
      { name: "wrapped", description: "", parameters },
      { name: "flat", description: "", parameters: { type: "object", properties: {} } },
    ]);
    expect(refused.map(({ name }) => name)).toEqual(["bad name!", "#4", "odd", "wordy", "plain", "#8"]);
    expect(readHostTools({}).refused).toHaveLength(1);
  });
});

describe("extensions", () => {
  test("[HOST-5-C1] a host gets what it takes of what was offered; any other answer means plain version 1", () => {
    expect(agreedExtensions({ extensions: ["ping", "cancel", "teleport"] })).toEqual(["cancel", "ping"]);
    expect(agreedExtensions({ extensions: ["ping", "cancel"] }, ["ping"])).toEqual(["ping"]);
    for (const answer of [null, "ok", { extensions: "ping" }, []]) expect(agreedExtensions(answer)).toEqual([]);
    expect(HOST_EXTENSIONS).toEqual(["cancel", "ping", "shutdown", "log", "deadline"]);
  });

  test("[HOST-5-C2] a log event has a level, a message and fields, however it is said", () => {
    expect(readHostLog({ level: "warn", message: "m", n: 1 })).toEqual({
      level: "warn",
      message: "m",
      fields: { n: 1 },
    });
    expect(readHostLog({ level: "loud", message: 5 })).toEqual({ level: "info", message: "5", fields: {} });
    expect(readHostLog("plain")).toEqual({ level: "info", message: "plain", fields: {} });
  });
});
