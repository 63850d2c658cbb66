// The transcript, line by line as it is typed, and what each line is answered with.

import { expect } from "vitest";

export interface Case {
  readonly rule: string;
  readonly name: string;
  /** One line, as it is typed. The id is the case's own. */
  readonly line: string;
  readonly id: string | null;
  readonly answer: object;
}

/** The part of a response that matters. */
export const ok = (value: unknown, state?: object) => ({
  ok: true,
  result: state === undefined ? { value } : { value, state },
});
export const no = (type: string, detail?: unknown) => ({
  ok: false,
  error: { type, detail: detail ?? expect.any(String) },
});

let next = 0;
const ask = (rule: string, name: string, method: string, params: string, answer: object): Case => {
  next += 1;
  const id = `r${next}`;
  return { rule, name, id, answer, line: `{"v":1,"id":"${id}","method":"${method}","params":${params}}` };
};
const call = (rule: string, tool: string, args: string, answer: object, state = "{}"): Case =>
  ask(
    rule,
    `execute_tool ${tool}`,
    "execute_tool",
    `{"tool_name":"${tool}","arguments":${args},"state":${state}}`,
    answer,
  );

const good: readonly Case[] = [
  ask("HOST-2-H1", "init", "init", '{"config":{"a":1}}', ok({ count: 0, a: 1 }, { count: 0, a: 1 })),
  ask(
    "HOST-2-H1",
    "get_tool_schemas",
    "get_tool_schemas",
    '{"state":{"s":1}}',
    ok(
      [
        { name: "echo", description: "Gives back what it got", parameters: { type: "object" } },
        { type: "function", function: { name: "count", parameters: { type: "object" } } },
      ],
      { s: 1, asked: true },
    ),
  ),
  call("HOST-2-H1", "echo", '{"text":"caf\u00e9 \u{1f600}"}', ok({ success: true, result: { text: "café 😀" } }, {})),
  call("HOST-2-H1", "nothing", "{}", ok({ success: true, result: null }, {})),
  call("HOST-2-H1", "refuse", "{}", ok({ success: false, error: "sold out" }, {})),
  call("HOST-2-H1", "later", '{"n":1}', ok({ success: true, result: { n: 1 } }, {})),
  call("HOST-2-H3", "count", "{}", ok({ success: true, result: 5 }, { count: 5, mine: [1] }), '{"count":4,"mine":[1]}'),
  call("HOST-2-H3", "replace", "{}", ok({ success: true, result: 1 }, { fresh: true }), '{"old":true}'),
  ask(
    "HOST-2-H2",
    "get_config_schema",
    "get_config_schema",
    "{}",
    ok({ type: "object", properties: { broken: { type: "boolean" } } }),
  ),
  ask("HOST-2-H2", "get_ui_elements", "get_ui_elements", "{}", ok([{ id: "shelf" }])),
  ask("HOST-2-H2", "get_tags", "get_tags", '{"config":{"c":1},"models":[{"id":"m"}]}', ok(["shop", "c", "models:1"])),
  ask("HOST-2-H2", "required_tags", "required_tags", "{}", ok(["tools"])),
  ask(
    "HOST-2-H2",
    "format_tool_result",
    "format_tool_result",
    '{"result":{"a":[1]},"state":{}}',
    ok('result: {"a":[1]}', { formatted: true }),
  ),
  ask(
    "HOST-2-H2",
    "format_tool_result, provider-native",
    "format_tool_result",
    '{"result":"native","state":{}}',
    ok({ type: "provider_native_tool_result", format: "openai.responses", output: [] }, { formatted: true }),
  ),
  ask(
    "HOST-2-H2",
    "format_tool_call_preview",
    "format_tool_call_preview",
    '{"tool_name":"echo","arguments":{"a":1,"b":2},"state":{}}',
    ok("echo with a, b", {}),
  ),
  ask(
    "HOST-2-H2",
    "to_display_format",
    "to_display_format",
    '{"text":"t","result":[1],"state":{"s":1}}',
    ok({ title: "t", body: [1] }, { s: 1 }),
  ),
  ask(
    "HOST-2-H3",
    "a method that takes no state gives back the one it got",
    "required_tags",
    '{"state":{"s":1}}',
    ok(["tools"], { s: 1 }),
  ),
  ask(
    "HOST-5-H1",
    "hello",
    "hello",
    '{"extensions":["cancel","ping","teleport"]}',
    ok({ extensions: ["cancel", "ping"] }),
  ),
  ask("HOST-5-3", "ping", "ping", "{}", ok("pong")),
  ask("HOST-5-2", "cancel of what does not run", "cancel", '{"id":"none"}', ok({ canceled: false })),
];

const bad: readonly Case[] = [
  ask("HOST-3-4", "init that throws", "init", '{"config":{"broken":true}}', no("ShopClosed", "no such shop")),
  call("HOST-3-4", "throw", "{}", no("ShopClosed", "we are closed")),
  call("HOST-2-H1", "teleport", "{}", ok({ success: false, error: "there is no tool teleport" }, {})),
  call("HOST-3-5", "not_json", "{}", no("NotJson", expect.stringMatching(/a set at \$\.result\.list\[1\]\.of$/i))),
  call("HOST-3-5", "not_a_number", "{}", no("NotJson", expect.stringMatching(/nan at \$\.result\[0\]$/i))),
  call("HOST-3-5", "bad_state", "{}", no("NotJson", expect.stringMatching(/^the state .* a set at \$\.kept$/i))),
  call("HOST-3-5", "bad_shape", "{}", no("InvalidResult", expect.stringContaining("success"))),
  ask("HOST-3-7", "an unknown method", "fly", "{}", no("MethodNotFound")),
  ask("HOST-3-7", "a name every object has", "toString", "{}", no("MethodNotFound")),
  ask("HOST-3-7", "init without config", "init", "{}", no("InvalidParams")),
  ask("HOST-3-7", "init with a list", "init", '{"config":[]}', no("InvalidParams")),
  ask("HOST-3-7", "get_tool_schemas without state", "get_tool_schemas", "{}", no("InvalidParams")),
  ask(
    "HOST-3-7",
    "execute_tool without state",
    "execute_tool",
    '{"tool_name":"echo","arguments":{}}',
    no("InvalidParams"),
  ),
  ask(
    "HOST-3-7",
    "execute_tool without arguments",
    "execute_tool",
    '{"tool_name":"echo","state":{}}',
    no("InvalidParams"),
  ),
  ask(
    "HOST-3-7",
    "execute_tool without a name",
    "execute_tool",
    '{"tool_name":"","arguments":{},"state":{}}',
    no("InvalidParams"),
  ),
  ask(
    "HOST-3-7",
    "execute_tool with a text as arguments",
    "execute_tool",
    '{"tool_name":"echo","arguments":"x","state":{}}',
    no("InvalidParams"),
  ),
  ask(
    "HOST-3-7",
    "execute_tool with a bad deadline",
    "execute_tool",
    '{"tool_name":"echo","arguments":{},"state":{},"deadline_ms":-1}',
    no("InvalidParams"),
  ),
  ask("HOST-3-7", "get_tags without models", "get_tags", '{"config":{}}', no("InvalidParams")),
  ask("HOST-3-7", "format_tool_result without a result", "format_tool_result", '{"state":{}}', no("InvalidParams")),
  ask(
    "HOST-3-7",
    "format_tool_call_preview without arguments",
    "format_tool_call_preview",
    '{"tool_name":"x","state":{}}',
    no("InvalidParams"),
  ),
  ask(
    "HOST-3-7",
    "to_display_format with a number as text",
    "to_display_format",
    '{"text":1,"result":1,"state":{}}',
    no("InvalidParams"),
  ),
  ask("HOST-3-7", "hello without extensions", "hello", "{}", no("InvalidParams")),
  ask("HOST-3-7", "cancel without an id", "cancel", "{}", no("InvalidParams")),
  ask("HOST-3-7", "params that are a list", "ping", "[]", no("InvalidParams")),
  {
    rule: "HOST-3-7",
    name: "another version",
    id: "v2",
    line: '{"v":2,"id":"v2","method":"ping"}',
    answer: no("VersionError"),
  },
  {
    rule: "HOST-3-7",
    name: "true as version",
    id: "vt",
    line: '{"v":true,"id":"vt","method":"ping"}',
    answer: no("VersionError"),
  },
  { rule: "HOST-3-7", name: "no version", id: "v0", line: '{"id":"v0","method":"ping"}', answer: no("VersionError") },
  { rule: "HOST-3-7", name: "no method", id: "m0", line: '{"v":1,"id":"m0"}', answer: no("InvalidParams") },
  {
    rule: "HOST-3-7",
    name: "a method that is a number",
    id: "m1",
    line: '{"v":1,"id":"m1","method":5}',
    answer: no("InvalidParams"),
  },
  {
    rule: "HOST-3-7",
    name: "an answer instead of a request",
    id: "a0",
    line: '{"v":1,"id":"a0","ok":true,"result":{"value":1}}',
    answer: no("InvalidParams"),
  },
  { rule: "HOST-3-7", name: "no id", id: null, line: '{"v":1,"method":"ping"}', answer: no("InvalidParams") },
  {
    rule: "HOST-3-7",
    name: "a number as id",
    id: null,
    line: '{"v":1,"id":7,"method":"ping"}',
    answer: no("InvalidParams"),
  },
  ...[
    ["text", "Loading model..."],
    ["an empty line", ""],
    ["half an object", '{"v":1,"id":"half"'],
    ["two objects", '{"v":1,"id":"x","method":"ping"}{"v":1,"id":"y","method":"ping"}'],
    ["a list", "[1]"],
    ["a number", "1"],
    ["NaN", '{"v":1,"id":"nan","method":"ping","params":{"a":NaN}}'],
    [
      "a line that is too deep",
      `{"v":1,"id":"deep","method":"ping","params":{"a":${"[".repeat(100)}${"]".repeat(100)}}}`,
    ],
    ["bytes that are not UTF-8", '{"v":1,"id":"utf","method":"ping","params":{"a":"\\377\\376"}}'],
  ].map(([name = "", line = ""]) => ({ rule: "HOST-3-6", name, id: null, line, answer: no("ParseError") })),
  {
    rule: "HOST-1-H2",
    name: "a carriage return before the end",
    id: "cr",
    line: '{"v":1,"id":"cr","method":"ping"}\\r',
    answer: ok("pong"),
  },
  {
    rule: "HOST-1-H2",
    name: "keys nobody knows",
    id: "more",
    line: '{"v":1,"id":"more","method":"ping","trace":1,"params":{"x":1}}',
    answer: ok("pong"),
  },
  { rule: "HOST-1-H2", name: "no params", id: "less", line: '{"v":1,"id":"less","method":"ping"}', answer: ok("pong") },
];

/** Every method, good and bad. */
export const cases: readonly Case[] = [...good, ...bad];
