// What a call gets from a host: outcomes, parts, states, ids; and the first words between parent and host.

import type { ExecuteResult, HostOptions, HostPorts, ToolHost } from "@toolplane/bridges";
import { createSchemaCompiler } from "@toolplane/engine";
import type { JsonObject } from "@toolplane/protocol";
import { badHostCommand } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { createHostOpener } from "./host-opener.ts";

const openHost = createHostOpener();

const start = (name: string, change: Partial<HostOptions> = {}, ports: HostPorts = {}): ToolHost =>
  openHost(
    {
      name,
      command: badHostCommand(name, name === "honest"),
      cwd: "/",
      ...change,
      // Hello has time even when the machine is busy.
      limits: { helloMs: 10_000, graceMs: 300, ...change.limits },
    },
    ports,
  );

/** The result of a call that worked, as an object. */
const resultOf = ({ outcome }: ExecuteResult): JsonObject => {
  if (outcome.status === "failed") throw outcome.error;
  return outcome.result as JsonObject;
};

const run = (host: ToolHost, toolName: string, args: JsonObject = {}) =>
  host.execute({ toolName, arguments: args, deadlineMs: 30_000 });

describe("outcomes", () => {
  test("[HOST-4-6] success false is tool_error with the host's words, and changes no state", async () => {
    const result = await run(start("says_no"), "bad");
    expect(result).toMatchObject({
      outcome: { status: "failed", error: { code: "tool_error", message: "no such word" }, written: true },
      state: undefined,
      attempts: 1,
    });
  });

  test("[HOST-4-7] ok false is internal_error with type and detail; the stack goes nowhere", async () => {
    const { outcome } = await run(start("throws"), "bad");
    if (outcome.status === "success") throw new TypeError("it did not fail");
    expect(outcome.error.code).toBe("internal_error");
    expect(outcome.error.detail).toEqual({ type: "TypeError", detail: "x is undefined" });
    expect(JSON.stringify([outcome.error.toWire(), outcome.error.message])).not.toContain("stack");
  });

  test("[HOST-4-12] stray text on stdout is a diagnostic, and the call goes on", async () => {
    const heard: string[] = [];
    const host = start("pollution", {}, { onDiagnostic: ({ kind, message }) => heard.push(`${kind}: ${message}`) });
    expect((await run(host, "bad")).outcome).toEqual({ status: "success", result: "fine" });
    expect(heard).toContain("stray_output: it wrote to stdout what is not a message: Loading model...");
  });

  test("[HOST-1-P1] an answer whose bytes are not UTF-8 is refused, not repaired", async () => {
    const { outcome } = await run(start("invalid_utf8"), "bad");
    expect(outcome).toMatchObject({ error: { code: "protocol_violation" } });
  });

  test("[SEC-9-2] a host answers only ids it was sent, and each once", async () => {
    expect((await run(start("unknown_ids"), "bad")).outcome).toMatchObject({ result: "fine" });
    const host = start("duplicate_ids");
    await run(host, "bad");
    expect((await run(host, "echo", { a: 1 })).outcome).toMatchObject({ result: { a: 1 } });
  });

  test("[HOST-4-13] ids are random, and new for every attempt", async () => {
    const host = start("revealing", { retrySafe: ["bad"] });
    const ids: unknown[] = [];
    for (let i = 0; i < 3; i += 1) {
      ids.push(resultOf(await run(host, "bad")).id);
    }
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{24}$/);
  });

  test("arguments that are not JSON are refused here, and the host goes on", async () => {
    const host = start("honest");
    const ring: Record<string, unknown> = {};
    ring.self = ring;
    expect((await run(host, "echo", ring as JsonObject)).outcome).toMatchObject({ error: { code: "bad_request" } });
    const large = { text: "x".repeat(17 * 1024 * 1024) };
    expect((await run(host, "echo", large)).outcome).toMatchObject({ error: { code: "payload_too_large" } });
    expect((await run(host, "echo", { a: 1 })).outcome.status).toBe("success");
  });
});

describe("parts and logs", () => {
  test("[HOST-4-22] parts come in order, none after the answer", async () => {
    const parts: unknown[] = [];
    const host = start("late_events");
    const result = await host.execute({ toolName: "bad", arguments: {}, emit: (part) => parts.push(part) });
    expect(result.outcome.status).toBe("success");
    await run(host, "echo");
    expect(parts).toEqual([1, 2]);
  });

  test("[HOST-5-6] a log event becomes a log line, not a part; a listener that throws harms nobody", async () => {
    const lines: unknown[] = [];
    const log = { info: () => {}, warn: (...said: unknown[]) => lines.push(said), error: () => {} };
    const parts: unknown[] = [];
    const emit = (part: unknown): never => {
      parts.push(part);
      throw new TypeError("listener");
    };
    const host = start("odd_events", {}, { log });
    expect((await host.execute({ toolName: "bad", arguments: {}, emit })).outcome.status).toBe("success");
    expect(parts).toEqual(["real"]);
    expect(lines).toContainEqual([
      "host odd_events: watch out",
      expect.objectContaining({ hostLevel: "warn", fields: '{"n":1}' }),
    ]);
  });
});

describe("state", () => {
  test("[HOST-4-16] without a state a call starts from the init state, and what it returns is the caller's to keep", async () => {
    const host = start("honest");
    expect(await run(host, "count")).toMatchObject({ outcome: { result: 1 }, state: { n: 1 } });
    expect(await run(host, "count")).toMatchObject({ outcome: { result: 1 }, state: { n: 1 } });
    const kept = await host.execute({ toolName: "count", arguments: {}, state: { n: 41, other: true } });
    expect(kept).toMatchObject({ outcome: { result: 42 }, state: { n: 42, other: true } });
  });
});

describe("first words", () => {
  const compile = createSchemaCompiler();
  const checkSchema: HostPorts["checkSchema"] = async (schema, value) => {
    const validate = compile(schema);
    return value === undefined ? [] : validate(value);
  };
  const config = { greeting: "salut" };

  test("[HOST-4-20] [HOST-2-P1] what a host offers; schemas that cannot be used are named and skipped", async () => {
    const description = await start("full", { config }, { checkSchema }).start();
    expect(description).toMatchObject({
      name: "full",
      initState: { greeting: "salut" },
      tags: ["models:0"],
      requiredTags: ["text"],
      uiElements: [{ id: "greeting", kind: "text" }],
      configSchema: { required: ["greeting"] },
      extensions: [],
      protocolVersion: 1,
    });
    expect(description.tools.map(({ name }) => name)).toEqual(["bad", "wrapped", "echo"]);
    expect(description.refused.map(({ name }) => name)).toEqual(["no good", "bad", "#6", "odd"]);
    expect(description.refused.at(-1)?.reason).toContain("not a valid JSON Schema");
  });

  test("[HOST-2-P2] a config that does not fit is refused before init, with the place", async () => {
    const host = start("full", { config: { greeting: 5 } }, { checkSchema });
    const error: unknown = await host.start().catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "bad_request" });
    const { message } = error as Error;
    expect(message.startsWith("host full: its config does not fit its schema: ")).toBe(true);
    expect(message).toContain("greeting");
    expect((await run(host, "bad")).outcome).toMatchObject({ error: { code: "bad_request" } });
  });

  test("[HOST-4-21] optional methods: asked when offered, undefined when not, and not asked twice", async () => {
    const full = start("full", { config });
    const native = { type: "provider_native_tool_result", format: "openai.responses", output: [] };
    expect(await full.formatResult({ result: "text" })).toEqual({ kind: "text", text: "text" });
    expect(await full.formatResult({ result: native })).toMatchObject({ kind: "native", envelope: native });
    expect(await full.formatResult({ result: { a: 1 } })).toEqual({ kind: "text", text: '{"a":1}' });
    expect(await full.formatCallPreview({ toolName: "bad", arguments: {} })).toBe("bad(salut)");
    expect(await full.toDisplayFormat({ text: "t", result: 1 })).toEqual({ text: "t", result: 1 });
    const bare = start("honest");
    await bare.start();
    expect(await bare.formatResult({ result: 1 })).toBeUndefined();
    const before = bare.status().processes[0]?.answered;
    expect(await bare.formatResult({ result: 1 })).toBeUndefined();
    expect(bare.status().processes[0]?.answered).toBe(before);
    expect(bare.describe()).toMatchObject({ tags: undefined, requiredTags: undefined, uiElements: undefined });
  });

  test("[HOST-4-21] an optional method that fails is left out of the description, and rejects when asked", async () => {
    const heard: string[] = [];
    const host = start("clumsy", {}, { onDiagnostic: ({ kind }) => heard.push(kind) });
    expect(await host.start()).toMatchObject({ tags: undefined, requiredTags: undefined });
    expect(heard).toEqual(["host_error", "host_error"]);
    await expect(host.formatResult({ result: 1 })).rejects.toMatchObject({ code: "internal_error" });
  });

  test("[HOST-5-1] a host gets what it answered hello with, cut to what was offered; an error means plain v1", async () => {
    const extended = start("honest");
    expect((await extended.start()).extensions).toEqual(["cancel", "ping", "shutdown", "log", "deadline"]);
    const plain = start("says_no");
    expect((await plain.start()).extensions).toEqual([]);
    expect(plain.status().starts).toBe(1);
  });

  test("[HOST-4-18] a host silent on hello is started again as plain v1, and never asked again", async () => {
    const heard: string[] = [];
    // Longer than a start takes on a busy machine: a slow start would make the silence mean nothing.
    const limits = { helloMs: 3_000 };
    const host = start("silent_on_hello", { limits }, { onDiagnostic: ({ kind }) => heard.push(kind) });
    expect((await host.start()).extensions).toEqual([]);
    expect(host.status()).toMatchObject({ starts: 2, crashes: 0 });
    expect(heard).toEqual(["plain_v1"]);
    await run(host, "die");
    expect((await run(host, "echo")).outcome.status).toBe("success");
    expect(host.status()).toMatchObject({ starts: 3, crashes: 1 });
    expect(heard.filter((kind) => kind === "plain_v1")).toHaveLength(1);
  });

  test("[HOST-4-18] one that was only slow to start is asked again", async () => {
    const [node = "", ...program] = badHostCommand("honest", true);
    // Silent for much longer than the limit, also when this process hears of it late.
    const silent = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);";
    const command = [node, "--import", `data:text/javascript,${encodeURIComponent(silent)}`, ...program];
    const limits = { helloMs: 10, backoffBaseMs: 1, breakerCrashes: 100, startupMs: 60_000 };
    const host = start("honest", { command, limits });
    await host.start();
    // The first process was held for silent, and one more was asked.
    expect(host.status().starts).toBeGreaterThan(2);
    // A start may take more than twice as long as the one before it; the patience grows with every process.
    await expect
      .poll(async () => {
        await run(host, "die");
        await run(host, "echo");
        return host.describe()?.extensions;
      })
      .toEqual(["cancel", "ping", "shutdown", "log", "deadline"]);
  });

  test("[HOST-4-18] one that works until it can answer is waited for", async () => {
    const [node = "", ...program] = badHostCommand("honest", true);
    // Longer than the limit in processor time, so at least as long by any clock.
    const busy = `const used = () => { const { user, system } = process.cpuUsage(); return user + system; };
      for (const from = used(); used() - from < 1_300_000; ) for (let i = 0; i < 1e6; i++) Math.sqrt(i);`;
    const command = [node, "--import", `data:text/javascript,${encodeURIComponent(busy)}`, ...program];
    const host = start("honest", { command, limits: { helloMs: 1_000, startupMs: 60_000 } });
    expect((await host.start()).extensions).toContain("cancel");
    expect(host.status().starts).toBe(1);
  });

  test("[HOST-5-5] with deadline negotiated execute_tool carries deadline_ms", async () => {
    const host = start("honest");
    const { deadline } = resultOf(await host.execute({ toolName: "wait", arguments: { ms: 1 }, deadlineMs: 20_000 }));
    expect(deadline).toBeGreaterThan(0);
    expect(deadline).toBeLessThanOrEqual(20_000);
    const plain = start("says_no");
    expect((await run(plain, "wait", { ms: 1 })).outcome).toMatchObject({ result: { deadline: null } });
  });

  test("a program that is not there is said to be missing, at the start and by every call", async () => {
    const host = start("missing", { command: ["no-such-program"] });
    await expect(host.start()).rejects.toMatchObject({ code: "not_found" });
    expect((await run(host, "x")).outcome).toMatchObject({ error: { code: "not_found" }, written: false });
  });
});
