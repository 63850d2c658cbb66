// From a configuration with three documents of different style to calls against one implementation: a file in parts, a file with
// forms, and one that is fetched and waits for a person. Then the same with documents that have changed.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Engine, systemClock } from "@toolplane/engine";
import type { JsonObject, JsonValue } from "@toolplane/protocol";
import type { Log } from "@toolplane/sdk";
import { createImportThreads, NO_OFFSET, type RunningApis, readSettings, runApis } from "@toolplane/server/internal";
import { startTestEngine, type TestEngine } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type ApiServer, startApiServer } from "./api-world.ts";
import { createImplementation } from "./implementation.ts";

// A thread has to load what it needs, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const [TOKEN, KEY] = ["shop-token-0123456789", "forms-key-0123456789"];
const PROJECT = "demo";

let place: string;
let api: ApiServer;
let world: TestEngine;
let engine: Engine;
let apis: RunningApis | undefined;
/** One for all starts: a thread takes a while to load what it needs. */
const threads = createImportThreads(systemClock);
let lines: { readonly message: string; readonly fields: JsonObject }[] = [];

const write = (name: string, change: (text: string) => string): void =>
  writeFileSync(join(place, name), change(readFileSync(join(place, name), "utf8")));

/** As a process that is started with this configuration. */
const start = async (): Promise<void> => {
  await apis?.stop(0);
  lines = [];
  const note = (message: string, fields?: object): void => void lines.push({ message, fields: { ...fields } });
  const log: Log = { info: note, warn: note, error: note };
  apis = runApis({
    engine,
    clock: systemClock,
    random: () => 0,
    log,
    offset: NO_OFFSET,
    holder: "API tools",
    settings: readSettings({ config: join(place, "toolplane.yaml") }, { env: {}, cwd: place }),
    env: { SHOP_TOKEN: TOKEN, FORMS_KEY: KEY },
    threads,
  });
  await apis.tried;
};

const said = (message: string, name: string) =>
  lines.filter((line) => line.message.includes(message) && line.fields.api === name).map(({ fields }) => fields);

const call = async (toolName: string, args: JsonObject = {}) => {
  const view = await engine.calls.call({ projectId: PROJECT, toolName, arguments: args }, 60_000);
  const [card] = await engine.cards.getCards(PROJECT, [view.resultCardId ?? ""]);
  const content = card?.content as unknown as { result: JsonValue; error: { code: string } | null } | undefined;
  return { result: content?.result, code: content?.error?.code };
};

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "toolplane-apis-"));
  cpSync(new URL("./documents", import.meta.url).pathname, join(place, "docs"), { recursive: true });
  const implementation = createImplementation(TOKEN, KEY);
  api = await startApiServer((asked, response) =>
    asked.url === "/docs/legacy.yaml"
      ? response.writeHead(200).end(readFileSync(join(place, "docs/legacy.yaml")))
      : implementation(asked, response),
  );
  write("docs/shop.yaml", (text) => text.replace('default: "0"', `default: "${api.port}"`));
  writeFileSync(
    join(place, "toolplane.yaml"),
    `project: ${PROJECT}
egress: { allow: ["${api.origin}"] }
secrets: { allow_env: [SHOP_TOKEN, FORMS_KEY] }
openapi:
  - { name: shop, spec: ./docs/shop.yaml, auth: { scheme: bearer, env: SHOP_TOKEN } }
  - { name: forms, spec: ./docs/forms.json, base_url: ${api.origin}/forms, auth: { scheme: "header:X-Api-Key", env: FORMS_KEY }, prefix: "" }
  - { name: old, spec: ${api.origin}/docs/legacy.yaml, operations: ["*"] }
  - { name: missing, spec: ./docs/none.yaml }
`,
  );
  world = await startTestEngine({ tools: [] });
  ({ engine } = world);
  await start();
});
afterAll(async () => {
  await apis?.stop(0);
  await threads.close();
  await world[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  rmSync(place, { recursive: true, force: true });
});

describe("three documents of different style", () => {
  test("[HTTP-5-1] a document in parts, with server variables, styles of lists and objects, and a bearer token", async () => {
    const made = await call("shop__items_create", { body: { name: "lamp", price: 5, parts: [{ name: "bulb" }] } });
    expect(made.result).toMatchObject({ id: "i1", name: "lamp" });
    await call("shop__items_create", { body: { name: "sofa", price: 900 } });
    const listed = await call("shop__items_list", { tags: ["a b", "c"], filter: { max_price: 10 } });
    expect(listed.result).toMatchObject({ items: [{ id: "i1" }], tags: ["a b", "c"], latency_ms: expect.any(Number) });
    expect((await call("shop__items_remove", { id: "i1" })).result).toMatchObject({ data: "" });
    expect((await call("shop__items_get", { id: "i1" })).code).toBe("not_found");
    await expect(call("shop__items_create", { body: { name: "x", price: 0 } })).rejects.toMatchObject({
      code: "bad_request",
    });
    await expect(call("shop__items_create", { body: { name: "x", id: "mine" } })).rejects.toMatchObject({
      code: "bad_request",
    });
  });

  test("[HTTP-5-1] forms, files, headers and cookies, with an API key in a header", async () => {
    const login = await call("login", { theme: "dark", body: { user: "a&b", roles: ["r1", "r2"] } });
    expect(login.result).toMatchObject({ user: "a&b", roles: ["r1", "r2"], cookie: "theme=dark" });
    const file = { base64: Buffer.from("bytes").toString("base64"), filename: "a.bin" };
    expect((await call("upload", { body: { note: "n", file } })).result).toMatchObject({ note: "n", file: "bytes" });
  });

  test("[HTTP-4-1] [HTTP-5-1] a fetched document waits until a person accepts it; then it works", async () => {
    await expect(call("old__get_text")).rejects.toMatchObject({ code: "not_found" });
    expect(said("wait until a person accepts", "old")).toEqual([
      expect.objectContaining({
        count: 3,
        tools: "old__get_colors_color, old__get_text, old__post_text",
        todo: expect.stringContaining("toolplane tools accept old__*"),
      }),
    ]);
    for (const name of ["old__get_text", "old__post_text", "old__get_colors_color"])
      await engine.tools.acceptTool(PROJECT, name);
    expect((await call("old__get_text")).result).toMatchObject({ data: "plain words" });
    expect((await call("old__post_text", { body: "four" })).result).toMatchObject({ value: [4] });
    const picture = await call("old__get_colors_color", { color: ["red", "blue"], ids: [1, 2] });
    expect(picture.result).toMatchObject({ data: "iVBORw0KGgo=", encoding: "base64", content_type: "image/png" });
  });

  test("[HTTP-4-3] what cannot be imported is named with its reason, and the rest works", () => {
    expect(said("left out", "shop")).toEqual([
      { api: "shop", count: 1, operations: "GET /broken", reason: expect.stringContaining("outside.yaml") },
    ]);
    expect(said("cannot be imported", "missing")).toMatchObject([
      { code: "bad_request", reason: expect.stringContaining("not there") },
    ]);
    expect(said("is imported", "shop")).toMatchObject([{ operations: 5, added: 4, refused: 1 }]);
  });
});

describe("the next start", () => {
  test("[HTTP-4-2] an unchanged document writes nothing", async () => {
    const before = await engine.tools.listToolVersions(PROJECT, "shop__items_get");
    await start();
    expect(said("is imported", "shop")).toMatchObject([{ added: 0, changed: 0, unchanged: 4 }]);
    expect(said("is imported", "old")).toMatchObject([{ waiting: 0, unchanged: 3 }]);
    expect((await engine.tools.listToolVersions(PROJECT, "shop__items_get")).items).toEqual(before.items);
  });

  test("[HTTP-4-4] a changed file makes a new version, a gone operation is named and stays, a changed fetched document waits", async () => {
    write("docs/shop.yaml", (text) =>
      text
        .replace("List the items of the shop", "List all")
        .replace(/ {2}\/items\/\{id\}:[\s\S]*? {2}\/broken/u, "  /broken"),
    );
    write("docs/legacy.yaml", (text) => text.replace("type: integer", "type: string"));
    await start();
    expect(said("is imported", "shop")).toMatchObject([{ changed: 1, added: 0 }]);
    expect(said("are gone", "shop")).toMatchObject([
      { tools: "shop__items_get, shop__items_remove", todo: "toolplane tools delete shop__items_get" },
    ]);
    expect(await engine.tools.getTool(PROJECT, "shop__items_list")).toMatchObject({
      version: 2,
      definition: { description: "List all" },
    });
    expect((await call("shop__items_get", { id: "i2" })).result).toMatchObject({ name: "sofa" });
    const waiting = await engine.tools.getTool(PROJECT, "old__get_colors_color");
    expect(waiting).toMatchObject({
      version: 1,
      pending: { version: 2, changes: [{ field: "parameters.properties.ids" }] },
    });
    // Named again at the start after that.
    await start();
    expect(said("are gone", "shop")).toHaveLength(1);
  });

  test("[HTTP-4-4] an operation that the patterns leave out is deleted", async () => {
    write("toolplane.yaml", (text) => text.replace('operations: ["*"]', "operations: [get*]"));
    await start();
    expect(said("leave out now", "old")).toMatchObject([{ tools: "old__post_text" }]);
    expect(await engine.tools.getTool(PROJECT, "old__post_text")).toBeUndefined();
    expect(await engine.tools.getTool(PROJECT, "old__get_text")).toBeDefined();
  });
});
