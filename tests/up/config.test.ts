// The configuration file as a person uses it: read at the start, applied to a project, refused where it is wrong.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { makePlace, makeUsedPlace, type Place } from "./data.ts";
import { startUp, type UpProcess } from "./up-process.ts";

// Several starts of a whole stack, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

const write = (place: Place, files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(place.root, name, ".."), { recursive: true });
    writeFileSync(join(place.root, name), text);
  }
};

const tool = (name: string, more = ""): string =>
  `tool_name: ${name}
description: ${name}, from a file
target_subject: cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.${name}
after_execution: suspend
parameters: { type: object, properties: { key: { type: string } } }
${more}`;

const profile = "name: assistant\nworker_target: workers\nsystem_prompt_template: Help.\n";

const upIn = (place: Place, args: readonly string[] = []): UpProcess =>
  startUp({ dataDir: place.dataDir, cwd: place.root, args });

const lastLine = (up: UpProcess): string => up.stderr().trimEnd().split("\n").at(-1) ?? "";

test("[UP-3-5] tools, profiles and agents of the configuration are in the project after every start", async () => {
  await using place = await makeUsedPlace();
  write(place, {
    "toolplane.yaml": `project: shop
tools: [./tools/*.yaml]
profiles: [./profiles/*.yaml]
agents: [{ agent_id: helper, profile: assistant }]
secrets: { allow_env: [SHOP_KEY] }
`,
    "tools/a.yaml": tool("count"),
    "tools/b.yaml": tool("fetch", "options: { envs: { key: SHOP_KEY } }"),
    "profiles/assistant.yaml": profile,
  });
  {
    await using up = upIn(place);
    const { body } = await up.request("GET", "/projects/shop/tools");
    const names = body.items.map(({ tool_name: name }: { readonly tool_name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["count", "echo", "fetch"]));
    expect((await up.request("GET", "/projects/shop/tools/count")).body).toMatchObject({
      version: 1,
      source: "config",
    });
    await up.stop();
  }
  write(place, { "tools/a.yaml": tool("count", "options: { retry: safe }") });
  await using up = upIn(place);
  expect((await up.request("GET", "/projects/shop/tools/count")).body).toMatchObject({ version: 2 });
  expect((await up.request("GET", "/projects/shop/tools/fetch")).body).toMatchObject({ version: 1 });
});

describe("what is wrong stops the start with exit code 2, before any data is made", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
    [
      "[API-3-2] an unknown key",
      { "toolplane.yaml": "project: a\n\ntool: [x]\n" },
      [],
      'toolplane: bad_request: toolplane.yaml:3: unknown key "tool"; correct it and start again',
    ],
    [
      "a file that is not there",
      {},
      ["--config", "other.yaml"],
      "toolplane: bad_request: other.yaml: there is no such file; correct it and start again",
    ],
    [
      "an entry that cannot be used",
      { "conf/tp.yaml": "mcp_servers:\n  - { name: a, command: [x], url: 'https://x.example' }\n" },
      ["--config", "conf/tp.yaml"],
      "toolplane: bad_request: conf/tp.yaml:2: mcp_servers[0].command: a server has either a command or a url; correct it and start again",
    ],
  ])("%s", async (_what, files, args, line) => {
    await using place = await makePlace();
    write(place, files);
    await using up = upIn(place, args);
    expect(await up.exited).toBe(2);
    expect(up.stderr()).toBe(`${line}\n`);
    expect(existsSync(place.dataDir)).toBe(false);
  });
});

describe("definitions that cannot be used name their file", () => {
  test.each<[string, Readonly<Record<string, string>>, string, number]>([
    ["a bad definition", { "tools/a.yaml": "tool_name: x\n" }, "tools/a.yaml: ", 2],
    ["a tag", { "tools/a.yaml": "tool_name: !!js/function x\n" }, "tools/a.yaml:1: ", 2],
    [
      "[API-3-3] one name in two files",
      { "tools/a.yaml": tool("x"), "tools/b.yaml": tool("x") },
      "x is defined in tools/a.yaml and in tools/b.yaml",
      1,
    ],
    [
      "[API-3-3] a name of another target",
      { "tools/a.yaml": tool("echo") },
      "tools/a.yaml: echo belongs to target bundled",
      1,
    ],
    [
      "[API-3-4] a variable that is not allowed",
      { "tools/a.yaml": tool("x", "options: { envs: { key: HOME } }") },
      "HOME is not a variable that tools of project demo may use: the operator of the plane lists it in secrets.allow_env",
      2,
    ],
  ])("%s", async (_what, files, message, code) => {
    await using place = await makeUsedPlace();
    write(place, { "toolplane.yaml": "tools: [./tools/*.yaml]\n", ...files });
    await using up = upIn(place);
    expect(await up.exited).toBe(code);
    expect(lastLine(up)).toContain(message);
    expect(up.stdout()).toBe("");
    expect(up.family()).toEqual([]);
  });
});

/** fetch does not let a caller choose the Host header; an attacker's client does. */
const askAs = (url: string, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request(`${url}/health`, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.once("error", reject);
    asked.end();
  });

describe("[SEC-16-1] [SEC-11-1] started with an empty configuration nothing is open", () => {
  test("no anonymous API, no foreign host name or origin, no variable for a tool, only loopback", async () => {
    await using place = await makeUsedPlace();
    await using up = upIn(place);
    const url = await up.ready();
    expect(new URL(url).hostname).toBe("127.0.0.1");
    for (const path of ["/projects", "/tokens", "/projects/demo/calls", "/projects/demo/events"])
      expect((await fetch(`${url}${path}`)).status).toBe(401);
    expect((await up.request("GET", "/projects", undefined, { origin: "https://evil.example" })).status).toBe(403);
    expect([await askAs(url, "evil.example"), await askAs(url, new URL(url).host)]).toEqual([403, 200]);
    const preflight = await fetch(`${url}/projects`, { method: "OPTIONS", headers: { origin: url } });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    expect((await up.request("POST", "/projects", { project_id: "p", title: "P" })).status).toBe(201);
    const definition = {
      tool_name: "leak",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.leak",
      after_execution: "suspend",
      parameters: { type: "object", properties: { key: { type: "string" } } },
      options: { envs: { key: "HOME" } },
    };
    const { status, body } = await up.request("POST", "/projects/p/tools", definition);
    expect([status, body.error.code]).toEqual([400, "bad_request"]);
  });
});
