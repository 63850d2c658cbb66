// A tool of each kind says its secret in every way it can: a function, a Node host, a Python host, a Python service, an API. Then
// everything that the plane keeps or says is searched: every table, every event, every log line, every answer.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LogFields, serveTools } from "@toolplane/sdk";
import { createTestDatabase, ENGINE_TEMPLATE, queryTestDatabase, until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { answerJson, startApiServer } from "../apis/api-world.ts";
import { ROOT } from "../cli/stack.ts";
import { requirePython, startPython } from "../examples/programs.ts";
import { EVERY_ROW } from "../hosts/canary-store.sql.ts";
import { PATIENT } from "../hosts/end-to-end-stack.ts";
import { makePlace } from "../up/data.ts";
import { PATIENCE_MS, startUp } from "../up/up-process.ts";
import { createLeak, formsOf, halvesOf } from "./leaky-tool.ts";

/** The API's travels in a header, where only ASCII is allowed. */
const secretOf = (kind: string): string =>
  `${kind}/9e+2b"7=${kind === "api" ? "a" : "\u00e4"}-${Buffer.from(kind).toString("hex")}-5f1c`;
const KINDS = ["function", "node", "pyhost", "pyservice", "api"] as const;
const SECRETS = Object.fromEntries(KINDS.map((kind) => [kind, secretOf(kind)])) as Record<
  (typeof KINDS)[number],
  string
>;
const HOWS = ["return", "throw"] as const;

/** Half of a form is looked for: a form that was cut, or scrubbed in part, is found as well. */
const tracesOf = (kind: (typeof KINDS)[number]): readonly string[] => {
  const secret = SECRETS[kind];
  const { hex = "", base64 = "", codes = "" } = formsOf(secret);
  const [rawStart, rawEnd] = halvesOf(secret);
  const encoded = encodeURIComponent(secret);
  return [
    rawStart,
    rawEnd,
    rawStart.replaceAll("/", "\\/"),
    encoded.slice(0, encoded.length / 2),
    encoded.slice(encoded.length / 2),
    ...halvesOf(hex),
    base64.slice(8, 24),
    base64.slice(24, 40),
    codes.slice(0, 36),
    codes.slice(-36),
  ];
};

test("[SEC-7-C1] [INV-I8-C9] no table, event, log line or answer holds the secret of a tool of any kind", async () => {
  requirePython();
  await using place = await makePlace();
  await using database = await createTestDatabase(ENGINE_TEMPLATE);
  await using api = await startApiServer();
  api.answer = ({ headers, url }, response) => {
    const forms = formsOf((headers.authorization ?? "").slice("Bearer ".length));
    const isFailure = url.includes("throw");
    const safe = { "x-echo": forms.base64 ?? "", "x-hex": forms.hex ?? "" };
    answerJson({ ...forms, all: Object.values(forms).join(" ") }, isFailure ? 500 : 200, safe)({} as never, response);
  };
  const host = { user: "inherit", limits: PATIENT };
  const python = ["python3", join(ROOT, "hosts/python/toolplane_host.py"), join(ROOT, "tests/canary/leaky_tool.py")];
  const nodeHost = join(ROOT, "packages/sdk/bin/toolplane-host.mjs");
  const config = {
    project: "demo",
    hosts: [
      {
        ...host,
        name: "node",
        command: ["node", "--conditions=source", nodeHost, join(ROOT, "tests/canary/leaky-host.ts")],
        env: ["CANARY_NODE"],
      },
      { ...host, name: "pyhost", command: python, env: ["CANARY_PYHOST"] },
    ],
    secrets: { allow_env: ["CANARY_NODE", "CANARY_PYHOST", { name: "CANARY_API", hosts: ["127.0.0.1"] }] },
    egress: { allow: [api.origin] },
  };
  writeFileSync(join(place.root, "toolplane.yaml"), JSON.stringify(config));
  await using up = startUp({
    dataDir: place.dataDir,
    cwd: place.root,
    args: ["--database-url", database.url],
    env: { CANARY_NODE: SECRETS.node, CANARY_PYHOST: SECRETS.pyhost, CANARY_API: SECRETS.api },
  });
  const url = await up.ready();
  const ask = async (method: string, path: string, body?: unknown) =>
    (await up.request(method, `/projects/demo${path}`, body)).body as { readonly [key: string]: unknown };
  const tokenFor = async (target: string): Promise<string> => {
    const made = { role: "tool", project_id: "demo", targets: [target] };
    return String(((await up.request("POST", "/tokens", made)).body as { readonly token: string }).token);
  };

  const lines: string[] = [];
  const note = (message: string, fields?: LogFields): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const env = { TOOLPLANE_URL: url, TOOLPLANE_TOKEN: await tokenFor("function"), TOOLPLANE_PROJECT: "demo" };
  await using _functions = await serveTools([createLeak("CANARY_FUNCTION")], {
    target: "function",
    env: { ...env, CANARY_FUNCTION: SECRETS.function },
    log: { info: note, warn: note, error: note },
    handleSignals: false,
  });
  await using service = await startPython("tests/canary/leaky_tool.py", {
    url,
    token: await tokenFor("pyservice"),
    env: {
      TOOLPLANE_PROJECT: "demo",
      CANARY_TOOL: "py_leak",
      CANARY_VARIABLE: "CANARY_PYSERVICE",
      CANARY_PYSERVICE: SECRETS.pyservice,
    },
  });
  await ask("POST", "/tools", {
    tool_name: "api_leak",
    parameters: { type: "object", properties: { how: { type: "string" } } },
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.openapi.api_leak",
    after_execution: "suspend",
    options: { openapi: { base_url: api.origin, path: "/echo", auth_env: "CANARY_API" } },
  });
  const hosts = async () => JSON.stringify(await ask("GET", "/hosts"));
  await until("the hosts to be ready", async () => !(await hosts()).includes('"starting"'), PATIENCE_MS);

  let events = "";
  const over = new AbortController();
  const authorization = `Bearer ${readFileSync(join(place.dataDir, "token"), "utf8").trim()}`;
  const stream = await fetch(`${url}/projects/demo/events`, { headers: { authorization }, signal: over.signal });
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) events += decoder.decode(chunk as Uint8Array, { stream: true });
  })().catch(() => undefined);

  const tools = { function: "leak", node: "node__leak", pyhost: "pyhost__leak", pyservice: "py_leak", api: "api_leak" };
  const heard: Record<string, string> = {};
  const outcomes: string[] = [];
  for (const kind of KINDS) {
    for (const how of HOWS) {
      const body = await ask("POST", "/calls", { tool_name: tools[kind], arguments: { how }, wait_seconds: 60 });

      outcomes.push(`${kind} ${how} ${String(body.status)}`);
      heard[`${kind} ${how}`] = JSON.stringify(body);
      const id = String(body.tool_call_id);
      for (const path of [`/calls/${id}`, `/calls/${id}/why`])
        heard[`${path} ${how}`] = JSON.stringify(await ask("GET", path));
    }
  }
  // The tools were run and spoke: what is looked for could have been there.
  expect(outcomes).toEqual(KINDS.flatMap((kind) => [`${kind} return success`, `${kind} throw failed`]));
  for (const kind of KINDS) expect(heard[`${kind} return`], kind).toContain("[redacted ");
  // The last part of each call that sends parts.
  const shown = ["FUNCTION", "NODE", "PYHOST", "PYSERVICE"].map((kind) => `[redacted CANARY_${kind}]`);
  await until("parts of every kind", () => shown.every((mark) => events.includes(mark)), PATIENCE_MS);
  heard.hosts = await hosts();
  expect(await up.stop()).toBe(0);
  over.abort();
  await reading;

  heard.events = events;
  heard["log of the plane"] = up.stderr();
  heard["log of the function's service"] = lines.join("\n");
  heard["log of the Python service"] = service.err();
  for (const { name, text } of await queryTestDatabase(database.url, EVERY_ROW)) heard[String(name)] = String(text);
  const found = KINDS.flatMap((kind) =>
    Object.entries(heard).flatMap(([where, text]) =>
      tracesOf(kind)
        .filter((trace) => text.includes(trace))
        .map((trace) => `${where}: ${kind}: ${trace}`),
    ),
  );
  expect(found).toEqual([]);
  expect(heard.events).toContain("[redacted CANARY_PYSERVICE]");
  expect(heard["log of the function's service"]).toContain("leaks [redacted CANARY_FUNCTION]");
}, 120_000);
