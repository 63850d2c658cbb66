// The examples in examples/hosts run, and do what their first lines say.

import { describe, expect, test } from "vitest";
import { type HostClient, startClient } from "./child-client.ts";
import { ROOT } from "./child-hosts.ts";

const node = (example: string): Promise<HostClient> =>
  startClient([process.execPath, `${ROOT}bin/toolplane-host.mjs`, `${ROOT}examples/hosts/${example}`]);
const python = (example: string): Promise<HostClient> =>
  startClient(["python3", `${ROOT}hosts/python/toolplane_host.py`, `${ROOT}examples/${example}`]);

const toolNames = async (client: HostClient): Promise<unknown> => {
  const { result } = await client.ask("get_tool_schemas", { state: {} });
  return (result?.value as { name: string }[] | undefined)?.map(({ name }) => name);
};

const stateAfterInit = async (client: HostClient, config: object = {}): Promise<object> =>
  (await client.ask("init", { config })).result?.state as object;

const value = (value: object) => ({ ok: true, result: { value } });

describe("examples/hosts", () => {
  test("[HOST-3-2] text tools in TypeScript, made with defineTool", async () => {
    await using client = await node("text-tools.ts");
    expect(await toolNames(client)).toEqual(["count_words", "find_lines", "slugify"]);
    const done = (result: object) => value({ success: true, result });
    expect(await client.call("count_words", { text: "one two  three" })).toMatchObject(done({ words: 3 }));
    expect(await client.call("slugify", { text: "Tool Hosts, explained!" })).toMatchObject(
      done({ slug: "tool-hosts-explained" }),
    );
    expect(await client.call("slugify", { text: "???" })).toMatchObject(
      value({ success: false, error: "nothing of this text can stand in a URL" }),
    );
    const found = await client.call("find_lines", { text: "a\nb\nab", word: "b", limit: 1 });
    expect(found).toMatchObject(done({ lines: [{ number: 2, line: "b" }] }));
    expect(await client.call("find_lines", { text: "a" })).toMatchObject({
      ok: true,
      result: { value: { success: false } },
    });
  });

  test("[HOST-3-1] a data tool in Python, with a configuration and a sentence for the model", async () => {
    await using client = await python("hosts/data_tools.py");
    expect(await toolNames(client)).toEqual(["describe_column"]);
    const state = await stateAfterInit(client, { delimiter: ";" });
    const args = { csv: "name;price\na;1\nb;4\nc;10\n", column: "price" };
    const answer = await client.call("describe_column", args, { state });
    const result = { count: 3, mean: 5, median: 4, least: 1, greatest: 10 };
    expect(answer).toMatchObject(value({ success: true, result }));
    const sentence = await client.ask("format_tool_result", { result: { success: true, result }, state });
    expect(sentence.result?.value).toBe("3 numbers from 1 to 10, mean 5, median 4");
    const missing = await client.call("describe_column", { ...args, column: "weight" }, { state });
    expect(missing).toMatchObject(value({ success: false, error: "there is no column weight" }));
  });

  test("[HOST-2-H3] a stateful session tool: two sessions that do not see each other", async () => {
    await using client = await node("notebook.ts");
    const fresh = await stateAfterInit(client, { limit: 2 });
    expect(fresh).toEqual({ limit: 2, notes: [] });
    const first = await client.call("add_note", { text: "buy milk" }, { state: fresh });
    const other = await client.call("add_note", { text: "call Ann" }, { state: fresh });
    const second = await client.call("add_note", { text: "and bread" }, { state: first.result?.state });
    const full = await client.call("add_note", { text: "and tea" }, { state: second.result?.state });
    expect(full).toMatchObject(value({ success: false, error: "the notebook is full: 2 notes" }));
    const read = async (state: unknown): Promise<unknown> =>
      (await client.call("read_notes", {}, { state })).result?.value;
    expect(await read(second.result?.state)).toEqual({ success: true, result: ["buy milk", "and bread"] });
    expect(await read(other.result?.state)).toEqual({ success: true, result: ["call Ann"] });
  });

  test("[HOST-5-2] a streaming tool: parts while it works, and an end when it is canceled", async () => {
    await using client = await node("countdown.ts");
    const answer = await client.call("count_down", { from: 3, pause_ms: 0 });
    expect(answer).toMatchObject(value({ success: true, result: { counted: 3 } }));
    const parts = client.lines().flatMap(({ event }) => (event === undefined ? [] : [event.payload]));
    expect(parts).toEqual([{ left: 3 }, { left: 2 }, { left: 1 }]);
    const id = client.send("execute_tool", {
      tool_name: "count_down",
      arguments: { from: 1000, pause_ms: 60_000 },
      state: {},
    });
    await client.until((lines) => lines.find((line) => line.id === id && line.event !== undefined));
    await client.ask("cancel", { id });
    expect(await client.answerOf(id)).toMatchObject({ ok: false, error: { type: "Canceled" } });
  });

  test.each([
    ["text-tools.ts", () => node("text-tools.ts")],
    ["data_tools.py", () => python("hosts/data_tools.py")],
    ["notebook.ts", () => node("notebook.ts")],
    ["countdown.ts", () => node("countdown.ts")],
  ])("[HOST-2-H1] %s says which tool it does not have", async (_name, start) => {
    await using client = await start();
    const answer = await client.call("no_such_tool", {}, { state: await stateAfterInit(client) });
    expect(answer).toMatchObject(value({ success: false, error: expect.stringContaining("no_such_tool") }));
  });

  test("[HOST-3-2] a Python service of decorated functions is a host without a change", async () => {
    await using client = await python("python-tool/text_tools.py");
    expect(await toolNames(client)).toEqual(["longest_words", "send_letter"]);
    const longest = await client.call("longest_words", { text: "a bbb cc" });
    expect(longest).toMatchObject({ ok: true, result: { value: { success: true } } });
    // It asks for its idempotency key, which the lines of a host do not tell: an honest error, not a made-up key.
    const sent = await client.call("send_letter", { to: "Ann", text: "hello" });
    expect(sent).toMatchObject({
      ok: false,
      error: { detail: expect.stringContaining("idempotency_key is not known") },
    });
    expect(client.lines().filter(({ event }) => event !== undefined)).toHaveLength(3);
    expect(await client.ask("get_config_schema")).toMatchObject(value({ type: "object", additionalProperties: false }));
  });
});
