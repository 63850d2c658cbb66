// What a host knows and must not say: its keys are looked for in everything the plane keeps, answers and logs.

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTestDatabase, ENGINE_TEMPLATE, queryTestDatabase, until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { makePlace } from "../up/data.ts";
import { PATIENCE_MS, startUp } from "../up/up-process.ts";
import { EVERY_ROW } from "./canary-store.sql.ts";
import { PATIENT } from "./end-to-end-stack.ts";

const KEY = 'canary/5f1c+9e"2b=77aa';
const CONFIG_KEY = "config-canary-0b5e4d17";
const PEM_LINE = "MIIEcanaryQIBADANBgkqhkiG9w0BAQEFAASC";
const PEM = `-----BEGIN PRIVATE KEY-----\n${PEM_LINE}\n-----END PRIVATE KEY-----`;
const MODES = ["result", "refuse", "fail", "broken", "stray", "die"] as const;

/** Every way a key may be written; what is looked for is shorter than the whole, so half of one is found as well. */
const TRACES = [
  "canary/5f1c",
  "canary\\/5f1c",
  encodeURIComponent(KEY).slice(0, 13),
  Buffer.from(KEY).toString("hex").slice(0, 24),
  ...[0, 1, 2].map((skip) =>
    Buffer.from(`${"u".repeat(skip)}${KEY}`)
      .toString("base64")
      .slice(4, 20),
  ),
  "config-canary",
  "0b5e4d17",
  PEM_LINE,
];

const traces = (text: string): readonly string[] => TRACES.filter((trace) => text.includes(trace));

test("[SEC-7-H1] [SEC-7-H2] a host's keys are in no answer, card, event, row or log line", async () => {
  await using place = await makePlace();
  await using database = await createTestDatabase(ENGINE_TEMPLATE);
  const program = join(place.root, "leaky-host.ts");
  copyFileSync(fileURLToPath(new URL("./free-programs/leaky-host.ts", import.meta.url)), program);
  const entry = (name: string, config: object) => ({
    name,
    command: ["node", program],
    env: ["CANARY_KEY", "CANARY_PEM"],
    config,
    session: "agent",
    // Its Node may lie where another user cannot enter.
    user: "inherit",
    limits: PATIENT,
  });
  const hosts = [
    entry("leaky", { nested: { key: "env:CONFIG_KEY" } }),
    entry("failing", { fails: "env:CONFIG_KEY" }),
    { ...entry("unset", { key: "env:NOT_THERE" }) },
  ];
  writeFileSync(join(place.root, "toolplane.yaml"), JSON.stringify({ project: "demo", hosts }));
  await using up = startUp({
    dataDir: place.dataDir,
    cwd: place.root,
    args: ["--database-url", database.url],
    env: { CANARY_KEY: KEY, CANARY_PEM: PEM, CONFIG_KEY },
  });
  const url = await up.ready();
  const heard: Record<string, string> = {};
  const get = async (path: string): Promise<string> => {
    const text = JSON.stringify((await up.request("GET", `/projects/demo${path}`)).body);
    heard[path] = text;
    return text;
  };
  await until("each host to be tried", async () => !(await get("/hosts")).includes('"starting"'), PATIENCE_MS);

  const over = new AbortController();
  const events = await fetch(`${url}/projects/demo/events`, {
    headers: { authorization: `Bearer ${readFileSync(join(place.dataDir, "token"), "utf8").trim()}` },
    signal: over.signal,
  });
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of events.body ?? [])
      heard.events = (heard.events ?? "") + decoder.decode(chunk as Uint8Array, { stream: true });
  })().catch(() => undefined);

  const codes: string[] = [];
  for (const mode of MODES) {
    const call = { tool_name: "leaky__say", arguments: { mode }, wait_seconds: 60 };
    const { body } = await up.request("POST", "/projects/demo/calls", call);
    heard[`call ${mode}`] = JSON.stringify(body);
    const { status, error, tool_call_id } = body as unknown as {
      readonly status: string;
      readonly error?: { readonly code: string };
      readonly tool_call_id: string;
    };
    codes.push(error?.code ?? status);
    await get(`/calls/${tool_call_id}`);
    await get(`/calls/${tool_call_id}/why`);
  }
  // Every word was said: what is looked for could have been there.
  expect(codes).toEqual([
    "success",
    "tool_error",
    "internal_error",
    "protocol_violation",
    "success",
    "outcome_unknown",
  ]);
  for (const path of ["/hosts", "/tools", "/tools/leaky__say", "/calls"]) await get(path);
  const missing = { tool_name: "failing__say", arguments: {} };
  heard.missing = JSON.stringify((await up.request("POST", "/projects/demo/calls", missing)).body);
  await until("the events to be read", () => heard.events?.includes("part") === true, PATIENCE_MS);
  expect(await up.stop()).toBe(0);
  over.abort();
  await reading;
  heard.log = up.stderr();
  for (const { name, text } of await queryTestDatabase(database.url, EVERY_ROW)) heard[String(name)] = String(text);

  const found = Object.entries(heard).flatMap(([where, text]) => traces(text).map((trace) => `${where}: ${trace}`));
  expect(found).toEqual([]);
  expect(heard["/hosts"]).toContain("[redacted CANARY_KEY]");
  expect(heard["/hosts"]).toContain("cannot log in with [redacted CANARY_KEY] [redacted CONFIG_KEY]");
  expect(heard["/hosts"]).toContain("the variable NOT_THERE, which is not set");
  expect(heard.log).toContain("key [redacted CANARY_KEY]");
}, 120_000);
