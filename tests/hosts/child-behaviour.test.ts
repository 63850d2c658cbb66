// What a table of single lines cannot show: requests that run at the same time, cancellation, deadlines, logs, the end.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callParams, type HostClient, startClient, startHost } from "./child-client.ts";
import { HOSTS, nodeHost, printInto, pythonHost, ROOT, sandboxedHost } from "./child-hosts.ts";

const canceled = { ok: false, error: { type: "Canceled" } };

describe.each(HOSTS)("$name", (host) => {
  let client: HostClient;
  beforeAll(async () => {
    client = await startHost(host);
  });
  afterAll(() => client[Symbol.asyncDispose]());
  const linesOf = (id: string) => client.lines().filter((line) => line.id === id);

  test("[HOST-1-H1] requests run at the same time: a hundred wait for each other and all pass", async () => {
    const ids = Array.from({ length: 100 }, () =>
      client.send("execute_tool", callParams("meet", { name: "all", party: 100 })),
    );
    for (const answer of await Promise.all(ids.map(client.answerOf))) expect(answer).toMatchObject({ ok: true });
    for (const id of ids) expect(linesOf(id)).toHaveLength(1);
  });

  test("[HOST-1-H1] an id that is running is not taken a second time", async () => {
    const id = client.send("execute_tool", callParams("until_aborted"));
    client.write(`${JSON.stringify({ v: 1, id, method: "ping" })}\n`);
    const refused = await client.until((lines) => lines.find((line) => line.id === null));
    expect(refused).toMatchObject({ ok: false, error: { type: "InvalidParams" } });
    await client.ask("cancel", { id });
    expect(await client.answerOf(id)).toMatchObject(canceled);
    expect(linesOf(id)).toHaveLength(1);
  });

  test("[HOST-1-H3] parts come before the answer, in order; what is not JSON is left out and noted", async () => {
    const id = client.send("execute_tool", callParams("parts", { count: 50 }));
    await client.answerOf(id);
    const events = linesOf(id).map(({ event, ok }) => event?.payload ?? ok);
    expect(events).toEqual([...Array.from({ length: 50 }, (_, part) => ({ part })), "whole event", true]);
    const bad = client.send("execute_tool", callParams("bad_part"));
    await client.answerOf(bad);
    expect(linesOf(bad).map(({ event }) => event)).toEqual([{ type: "part", payload: "good" }, undefined]);
    await client.until((_, stderr) => (stderr.includes("a part was dropped") ? true : undefined));
  });

  test("[HOST-5-2] cancel aborts the running request, which is then answered as Canceled", async () => {
    const id = client.send("execute_tool", callParams("until_aborted"));
    expect(await client.ask("cancel", { id })).toMatchObject({ result: { value: { canceled: true } } });
    expect(await client.answerOf(id)).toMatchObject(canceled);
    expect(await client.call("echo")).toMatchObject({ ok: true });
  });

  test("[HOST-5-2] code that does not look at its cancellation is still running: it is answered when it comes back", async () => {
    const id = client.send("execute_tool", callParams("meet", { name: "deaf", party: 2, says: "here" }));
    // One that is canceled before its code began is answered at once.
    await client.until((lines) => lines.find((line) => line.id === id));
    await client.ask("cancel", { id });
    await client.ask("ping");
    expect(linesOf(id)).toMatchObject([{ event: { payload: "here" } }]);
    await client.call("meet", { name: "deaf", party: 2 });
    expect(await client.answerOf(id)).toMatchObject(canceled);
  });

  test("[HOST-5-3] ping is answered while calls run", async () => {
    const id = client.send("execute_tool", callParams("until_aborted"));
    expect(await client.ask("ping")).toMatchObject({ result: { value: "pong" } });
    expect(linesOf(id)).toEqual([]);
    await client.ask("cancel", { id });
  });

  test("[HOST-5-H2] when the time of a call is over its signal is aborted", async () => {
    const answer = await client.call("deadline", {}, { deadline_ms: 30 });
    expect(answer).toMatchObject({ ok: false, error: { type: "DeadlineExceeded" } });
    const late = await client.call("until_aborted", {}, { deadline_ms: 30 });
    expect(late).toMatchObject({ ok: true, result: { value: { success: true } } });
  });

  test("[HOST-5-H3] log entries are events once the parent has taken them, lines on stderr before", async () => {
    const before = client.send("execute_tool", callParams("log"));
    await client.answerOf(before);
    await client.until((_, stderr) => (stderr.includes("looked") && stderr.includes("shelf") ? true : undefined));
    expect(linesOf(before)).toHaveLength(1);
    await client.ask("hello", { extensions: ["log"] });
    const id = client.send("execute_tool", callParams("log"));
    await client.answerOf(id);
    const payload = { level: "info", message: "looked", at: "shelf" };
    expect(linesOf(id)[0]?.event).toEqual({ type: "log", payload });
  });

  test("[HOST-3-10] a call that throws where nobody catches, or ends the program, fails alone", async () => {
    const other = client.send("execute_tool", callParams("until_aborted"));
    const fallen = { ok: false, error: { type: "ShopClosed", detail: "fell in a timer" } };
    expect(await client.call("fall")).toMatchObject(fallen);
    expect(await client.call("exit")).toMatchObject({ ok: false, error: { detail: expect.any(String) } });
    await client.ask("cancel", { id: other });
    expect(await client.answerOf(other)).toMatchObject(canceled);
  });
});

describe.each(HOSTS)("the end of $name", (host) => {
  test("[HOST-3-9] at the end of stdin what runs is finished, then the host exits with 0", async () => {
    await using client = await startHost(host);
    const id = client.send("execute_tool", callParams("meet", { name: "end", party: 2 }));
    const second = client.send("execute_tool", callParams("meet", { name: "end", party: 2 }));
    client.endInput();
    expect(await client.answerOf(id)).toMatchObject({ ok: true });
    expect(await client.answerOf(second)).toMatchObject({ ok: true });
    expect(await client.ended).toEqual({ code: 0, signal: null });
  });

  test("[HOST-3-9] what does not finish within the bound is answered as canceled", async () => {
    await using client = await startHost(host, "--drain-seconds", "0.05");
    const id = client.send("execute_tool", callParams("meet", { name: "never", party: 2 }));
    await client.ask("ping");
    client.endInput();
    expect(await client.answerOf(id)).toMatchObject(canceled);
    expect(await client.ended).toEqual({ code: 0, signal: null });
  });

  test("[HOST-5-4] shutdown takes nothing new, finishes what runs, answers last, and ends the host", async () => {
    await using client = await startHost(host);
    const running = client.send("execute_tool", callParams("until_aborted"));
    const stop = client.send("shutdown");
    expect(await client.call("echo")).toMatchObject({ ok: false, error: { type: "ShuttingDown" } });
    await client.ask("cancel", { id: running });
    expect(await client.answerOf(stop)).toMatchObject({ ok: true });
    expect(
      client
        .lines()
        .map(({ id }) => id)
        .slice(-2),
    ).toEqual([running, stop]);
    expect(await client.ended).toEqual({ code: 0, signal: null });
  });

  test("[HOST-5-4] shutdown of an idle host is answered at once, and it exits with 0", async () => {
    await using client = await startHost(host);
    expect(await client.ask("shutdown")).toMatchObject({ ok: true });
    expect(await client.ended).toEqual({ code: 0, signal: null });
  });

  test("a parent that closes the host's stdout is not waited for", async () => {
    await using client = await startHost(host);
    await client.ask("ping");
    client.closeOutput();
    client.send("ping");
    expect(await client.ended).toEqual({ code: 0, signal: null });
  });

  test("[HOST-3-6] a line of 70 MB is refused without being kept, and the next one is answered", async () => {
    await using client = await startHost(host);
    client.write(`{"v":1,"id":"huge","method":"ping","params":{"x":"${"x".repeat(70 * 1024 * 1024)}"}}\n`);
    expect(await client.ask("ping")).toMatchObject({ ok: true });
    expect(client.lines()[0]).toMatchObject({ id: null, ok: false, error: { type: "ParseError" } });
  });

  test.each(["no-such-file", "child-hosts"])("[API-7-1] %s cannot be served: one sentence, exit code 1", (module) => {
    const { code, stderr, lines } = printInto(host.argv(module), "");
    expect({ code, lines }).toEqual({ code: 1, lines: [] });
    expect(stderr).toMatch(/^\S+ cannot load \S+: [^\n]+\n/);
  });

  test("[API-7-1] without a module: how it is used, exit code 2", () => {
    const argv = host.argv("x").slice(0, -1);
    expect(printInto(argv, "")).toMatchObject({ code: 2, stderr: expect.stringContaining("usage:") });
  });
});

describe.each([nodeHost, sandboxedHost, pythonHost])("[HOST-3-3] $name", (host) => {
  test("keeps what plugin code prints out of the protocol, however it is printed", async () => {
    await using client = await startHost(host);
    expect(await client.call("print")).toMatchObject({ ok: true, result: { value: { result: "printed" } } });
    const kinds = ["console", "stream", "descriptor", ...(host === sandboxedHost ? [] : ["child"])];
    await client.until((_, err) => (kinds.every((kind) => err.includes(`stray ${kind}`)) ? true : undefined));
    expect(client.lines()).toHaveLength(1);
  });
});

test("[HOST-3-3] a program may be a host by itself: runHost takes over its stdio", async () => {
  await using client = await startClient([
    process.execPath,
    "--conditions=source",
    `${ROOT}tests/hosts/child-program.ts`,
  ]);
  expect(await client.call("greet", { name: "Ann" })).toMatchObject({ result: { value: { result: "Hello, Ann" } } });
  await client.until((_, err) => (err.includes("stray greeting") ? true : undefined));
  expect(client.lines()).toHaveLength(1);
  client.endInput();
  expect(await client.ended).toEqual({ code: 0, signal: null });
});

test("[API-7-1] the repository's command and the package's own are the same program", async () => {
  const own = JSON.parse(readFileSync(`${ROOT}packages/sdk/package.json`, "utf8")) as { bin: Record<string, string> };
  const argv = [
    process.execPath,
    `${ROOT}packages/sdk/${own.bin["toolplane-host"]}`,
    `${ROOT}tests/hosts/child-bare.ts`,
  ];
  await using client = await startClient(argv);
  expect(await client.call("x")).toMatchObject({ result: { value: { result: "x" } } });
});
