// serveTools over real HTTP, against a small plane that behaves or does not.

import { EventEmitter } from "node:events";
import { definitionHash, HEADERS, isRecord, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createManualClock, until } from "../../test/manual-clock.ts";
import { createRecordingLog } from "../../test/recording-log.ts";
import { type SampleCall, sampleCall } from "../../test/sample-call.ts";
import { createScriptedGateway } from "../../test/scripted-gateway.ts";
import {
  createScriptedServer,
  type ScriptedAnswer,
  type ScriptedServer,
  type SeenRequest,
} from "../../test/scripted-server.ts";
import { sha256 } from "../ports/ids.ts";
import { defineTool } from "../tools/define-tool.ts";
import { type ServeOptions, serveTools } from "./serve-tools.ts";

const TOKEN = "tp_secret_token";

const countWords = defineTool({
  name: "count_words",
  description: "Count the words of a text",
  parameters: z.object({ text: z.string() }),
  retry: "safe",
  run: async ({ text }) => ({ words: text.split(/\s+/).filter(Boolean).length }),
});

interface Plane extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly tools: Map<string, ToolDefinition>;
  readonly results: { readonly path: string; readonly body: unknown }[];
  offer(call: SampleCall): void;
  /** Answers instead of the plane when it gives something. */
  intercept: (request: SeenRequest) => ScriptedAnswer | undefined;
}

const error = (status: number, code: string): ScriptedAnswer => ({
  status,
  body: { error: { code, message: code, retryable: false } },
});

const createPlane = async (): Promise<Plane> => {
  const tools = new Map<string, ToolDefinition>();
  const results: { path: string; body: unknown }[] = [];
  const offered: SampleCall[] = [];
  const cards = new Map<string, SampleCall>();
  let ring: () => void = () => {};

  const claim = async (): Promise<ScriptedAnswer> => {
    if (offered.length === 0) await new Promise<void>((resolve) => (ring = resolve));
    const expires_at = new Date(Date.now() + 15_000).toISOString();
    const commands = offered
      .splice(0)
      .map(({ command }) => ({ ...command, lease: { id: command.lease?.id, expires_at } }));
    return { body: { commands } };
  };

  const showTool = (name: string): ScriptedAnswer => {
    const tool = tools.get(name);
    return tool === undefined
      ? error(404, "not_found")
      : { body: { ...tool, version: 1, definition_hash: definitionHash(tool, sha256) } };
  };

  const exchange = (path: string, body: Readonly<Record<string, unknown>>): ScriptedAnswer => {
    const said = (body.results ?? []) as readonly { readonly tool_call_id: string }[];
    results.push(...said.map((item) => ({ path, body: item })));
    const settled = { tool_result_card_id: "card_r", status: "success", idempotent: false };
    const answers = said.map(({ tool_call_id }) => ({ tool_call_id, ...settled }));
    return { body: { results: answers, heartbeats: [], releases: [], commands: [] } };
  };

  const route = ({ method, path, body, headers }: SeenRequest): ScriptedAnswer | Promise<ScriptedAnswer> => {
    if (headers.authorization !== `Bearer ${TOKEN}`) return error(401, "unauthorized");
    const [, , project, noun, name = "", verb] = path.split("/");
    if (project !== "demo") return error(404, "not_found");
    if (noun === "tool-services" && verb === "exchange" && isRecord(body)) return exchange(path, body);
    if (noun === "tool-services") return claim();
    if (noun === "tools" && method === "GET") return showTool(name);
    if (noun === "tools" && isRecord(body)) {
      tools.set(String(body.tool_name), body as unknown as ToolDefinition);
      return { status: 201, body };
    }
    if (verb === "card") return { body: cards.get(name)?.card };
    if (verb === "heartbeat")
      return { body: { expires_at: new Date(Date.now() + 15_000).toISOString(), cancel: false } };
    if (verb === "result") {
      results.push({ path, body });
      return { body: { tool_result_card_id: "card_r", idempotent: false } };
    }
    return error(404, "not_found");
  };

  const plane: Omit<Plane, "server" | typeof Symbol.asyncDispose> = {
    tools,
    results,
    intercept: () => undefined,
    offer(call) {
      cards.set(call.command.headers[HEADERS.toolCallId] ?? "", call);
      offered.push(call);
      ring();
    },
  };
  const server = await createScriptedServer((request) => plane.intercept(request) ?? route(request));
  return Object.assign(plane, { server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() });
};

const serve = (plane: Plane, options: Partial<ServeOptions> = {}) =>
  serveTools([countWords], {
    target: "text",
    handleSignals: false,
    log: createRecordingLog(),
    env: { TOOLPLANE_URL: plane.server.url, TOOLPLANE_TOKEN: TOKEN },
    startupMs: 0,
    ...options,
  });

describe("serving", () => {
  test("[API-6-3] [API-6-4] [API-6-S14] registers, claims, runs and settles with nothing but a target", async () => {
    await using plane = await createPlane();
    await using serving = await serve(plane);
    expect(plane.tools.get("count_words")).toMatchObject({
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.count_words",
      after_execution: "suspend",
      options: { retry: "safe" },
    });
    plane.offer(sampleCall());
    await until(() => plane.results.length === 1, "the result arrives");
    expect(plane.results[0]).toMatchObject({
      path: "/projects/demo/tool-services/text/exchange",
      body: { tool_call_id: "call_1", lease: "lease_1", status: "success", result: { words: 3 } },
    });
    await expect(serving.stop({ drainMs: -1 })).rejects.toThrow(
      "drainMs must be a number of milliseconds, 0 or more, not -1",
    );
    await serving.stop();
    expect(serving.running()).toBe(0);
  });

  test("[LIM-retry-5] what the plane warns of at a registration is in the log of the service", async () => {
    await using plane = await createPlane();
    plane.intercept = ({ method, path, body }) =>
      method === "POST" && path.endsWith("/tools") && isRecord(body)
        ? { status: 201, body: { ...body, warnings: ["retry_policy repeats failures with rate_limitted"] } }
        : undefined;
    const log = createRecordingLog();
    await (await serve(plane, { log })).stop();
    expect(log.entries).toContainEqual(
      expect.objectContaining({ message: "count_words: retry_policy repeats failures with rate_limitted" }),
    );
  });

  test("[API-6-4] what is registered under the same hash is not sent again", async () => {
    await using plane = await createPlane();
    await (await serve(plane)).stop();
    await (await serve(plane)).stop();
    const sent = plane.server.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/tools"));
    expect(sent).toHaveLength(1);
  });

  test("[API-6-S16] a server that goes away and comes back empty is served again", async () => {
    await using plane = await createPlane();
    const log = createRecordingLog();
    await using _serving = await serve(plane, { log });
    let failures = 0;
    plane.intercept = ({ path }) => {
      if (!path.endsWith("/claim") || failures >= 2) return undefined;
      failures += 1;
      return { hangUp: true };
    };
    // Ends the claim that is under way; the next two are hung up on.
    plane.offer(sampleCall({ callId: "call_1" }));
    plane.tools.clear();
    await until(() => plane.tools.has("count_words"), "the tool is registered again");
    plane.offer(sampleCall({ callId: "call_2", leaseId: "lease_2" }));
    await until(() => plane.results.length === 2, "both results arrive");
    expect(log.entries.some(({ message }) => message === "this service asks for calls again")).toBe(true);
  });

  test("[ARCH-7-S2] a signal given in the options stops it", async () => {
    await using plane = await createPlane();
    const given = new AbortController();
    const serving = await serve(plane, { signal: given.signal });
    given.abort();
    await serving.finished;
    expect(serving.running()).toBe(0);
  });

  test("[INV-I8-S4] the token is in no URL, body, log line or result", async () => {
    await using plane = await createPlane();
    const log = createRecordingLog();
    const leaky = defineTool({
      name: "count_words",
      description: "Leaks",
      parameters: { type: "object" },
      run: () => ({ env: TOKEN }),
    });
    await using _serving = await serveTools([leaky], {
      target: "text",
      handleSignals: false,
      log,
      url: plane.server.url,
      token: TOKEN,
    });
    plane.offer(sampleCall());
    await until(() => plane.results.length === 1, "the result arrives");
    const seen = JSON.stringify(plane.server.requests.map(({ path, body }) => [path, body])) + log.text();
    expect(seen).not.toContain(TOKEN);
  });
});

describe("a start that fails says why in one sentence", () => {
  const failing = async (plane: Plane, options: Partial<ServeOptions> = {}): Promise<unknown> =>
    serve(plane, options).catch((thrown: unknown) => thrown);

  test("[API-6-S15] no token, and a wrong one", async () => {
    await using plane = await createPlane();
    expect(await failing(plane, { env: { TOOLPLANE_URL: plane.server.url } })).toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining(
        "set TOOLPLANE_TOKEN (toolplane token create --role tool --project demo --targets text)",
      ),
    });
    expect(await failing(plane, { token: "wrong" })).toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("does not know this token"),
    });
  });

  test("[API-6-S40] a server that is not up yet is waited for, and said once", async () => {
    const clock = createManualClock();
    const log = createRecordingLog();
    const over = new AbortController();
    const gateway = createScriptedGateway({ clock, script: { findTool: () => new Promise(() => {}) } });
    const given = { target: "text", gateway, clock, log, signal: over.signal, handleSignals: false, env: {} };
    void serveTools([countWords], given).catch(() => undefined);
    await clock.advance(60_000);
    expect(log.entries.map(({ message }) => message)).toEqual([
      "no Toolplane server answers at http://127.0.0.1:7420 yet; waiting for it (TOOLPLANE_URL names another one)",
    ]);
  });

  test("[API-6-S40] a program that does not catch the failure ends with one sentence", async () => {
    const plane = await createPlane();
    await plane[Symbol.asyncDispose]();
    const port = Object.assign(new EventEmitter(), { said: "", code: -1, exit: (code: number) => (port.code = code) });
    const stderr = { write: (text: string) => (port.said += text) };
    const error = await failing(plane, { handleSignals: true, process: Object.assign(port, { stderr }) });
    port.emit("uncaughtException", error);
    expect([port.said, port.code]).toEqual([`${(error as Error).message}\n`, 1]);
    expect(port.said).not.toContain("\n    at ");
  });

  test("[API-6-S15] no server", async () => {
    const plane = await createPlane();
    await plane[Symbol.asyncDispose]();
    expect(await failing(plane)).toMatchObject({
      code: "upstream_unavailable",
      message: `no Toolplane server answers at ${plane.server.url}: start one with "toolplane up", or set TOOLPLANE_URL`,
    });
  });

  test("[API-6-S15] a token that may not, and a project that is not", async () => {
    await using plane = await createPlane();
    plane.intercept = () => error(403, "auth_failed");
    expect(await failing(plane)).toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining("target text in project demo"),
    });
    plane.intercept = () => undefined;
    expect(await failing(plane, { project: "shop" })).toMatchObject({
      code: "not_found",
      message: expect.stringContaining("there is no project shop"),
    });
  });

  test("[API-6-S15] a token of another target, which only the first claim finds out", async () => {
    await using plane = await createPlane();
    const refusal = { code: "auth_failed", message: "this token serves other, not text" };
    const refuse = (from: number) => {
      let claims = 0;
      plane.intercept = ({ path }) =>
        path.endsWith("/claim") && ++claims >= from ? { status: 403, body: { error: refusal } } : undefined;
    };
    const sentence =
      "the token may not serve target text in project demo: use one made for that target (toolplane token create --role tool --project demo --targets text)";

    refuse(1);
    const exits: number[] = [];
    let said = "";
    const stderr = { write: (text: string) => (said += text) };
    const port = Object.assign(new EventEmitter(), { stderr, exit: (code: number) => void exits.push(code) });
    await (await serve(plane, { handleSignals: true, process: port })).finished;
    await until(() => exits.length > 0, "the process ends");
    expect([said, exits]).toEqual([`${sentence}\n`, [1]]);

    const log = createRecordingLog();
    await (await serve(plane, { log })).finished;
    expect(log.entries.at(-1)).toMatchObject({ level: "error", message: sentence });
    expect(log.entries.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("[API-6-S16] a refusal after the first claim was answered does not end it", async () => {
    await using plane = await createPlane();
    const log = createRecordingLog();
    await using _serving = await serve(plane, { log });
    plane.offer(sampleCall());
    await until(() => plane.results.length === 1, "the result arrives");
    let refused = 0;
    plane.intercept = ({ path }) => (path.endsWith("/claim") && ++refused <= 2 ? error(403, "auth_failed") : undefined);
    // Ends the claim that is under way; the next two are refused.
    plane.offer(sampleCall({ callId: "call_2", leaseId: "lease_2" }));
    await until(() => refused > 2, "it asks again");
    plane.offer(sampleCall({ callId: "call_3", leaseId: "lease_3" }));
    await until(() => plane.results.length === 3, "it goes on");
    expect(log.entries.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("[API-6-5] a name that belongs to another target", async () => {
    await using plane = await createPlane();
    await (await serve(plane)).stop();
    expect(await failing(plane, { target: "shop" })).toMatchObject({
      code: "conflict",
      message: expect.stringContaining("count_words belongs to target text"),
    });
  });

  test("[API-6-5] a conflict the server finds keeps its words", async () => {
    await using plane = await createPlane();
    plane.intercept = ({ method, path }) =>
      method === "POST" && path.endsWith("/tools")
        ? { status: 409, body: { error: { code: "conflict", message: "count_words is defined by a file" } } }
        : undefined;
    expect(await failing(plane)).toMatchObject({ code: "conflict", message: "count_words is defined by a file" });
  });

  test("no tools at all", async () => {
    await expect(serveTools([], { target: "text" })).rejects.toThrow("at least one tool");
  });
});

test("[SEE-18] an error in a timer of a tool ends the service: the log names the call, the call gets the cause", async () => {
  const exits: number[] = [];
  const port = Object.assign(new EventEmitter(), { exit: (code: number) => void exits.push(code) });
  const lateThrow = defineTool({
    name: "count_words",
    description: "Throws in a timer",
    parameters: z.object({ text: z.string() }),
    run: () =>
      new Promise(() => {
        // As Node does with an error that nothing catches.
        setTimeout(() => port.emit("uncaughtException", new TypeError("late boom")), 1);
      }),
  });
  await using plane = await createPlane();
  const log = createRecordingLog();
  await serveTools([lateThrow], { target: "text", url: plane.server.url, token: TOKEN, log, process: port, env: {} });
  plane.offer(sampleCall());
  await until(() => exits.length > 0, "the process ends");
  expect(exits).toEqual([1]);
  expect(plane.results).toMatchObject([
    { body: { status: "failed", error: { code: "internal_error" }, diagnostics: { message: "late boom" } } },
  ]);
  const line = log.entries.find(({ message }) => message === "an error that no code caught ends the service");
  expect(line?.fields).toMatchObject({ reason: "late boom", thrown_by: "count_words in call call_1" });
});

describe("over NATS", () => {
  test("[API-5-N8] an idle service registers again what a plane has forgotten, and complains once", async () => {
    const clock = createManualClock();
    const gateway = createScriptedGateway({ clock });
    gateway.script.claim = async (_request, signal) => {
      await clock.sleep(20_000, signal);
      return [];
    };
    const log = createRecordingLog();
    const serving = await serveTools([countWords], {
      target: "text",
      url: "nats://127.0.0.1:4222",
      gateway,
      clock,
      log,
      handleSignals: false,
      env: {},
    });
    expect(gateway.registered).toHaveLength(1);
    await clock.advance(20_000);
    expect(gateway.registered).toHaveLength(2);
    gateway.script.findTool = async () => {
      throw new ToolplaneError("upstream_unavailable", "away");
    };
    await clock.advance(60_000);
    expect(log.entries.filter(({ level }) => level === "error")).toHaveLength(1);
    await serving.stop();
  });
});
