import { describe, expect, test } from "vitest";
import { createFakeTerminal } from "../../test/cli/fake-terminal.ts";
import { readSettings } from "./settings.ts";

const FILES = { "/somewhere/.toolplane/token": "from-file\n", "/elsewhere/token": "from-elsewhere\n" };

const settings = (flags: Parameters<typeof readSettings>[0], env: Record<string, string> = {}) =>
  readSettings(flags, createFakeTerminal({ files: FILES, env }).io);

describe("settings", () => {
  test("[API-2-13] without anything: the local server, its token, the project demo", async () => {
    const { url, project, readToken } = await settings({});
    expect([url, project, await readToken()]).toEqual(["http://127.0.0.1:7420", "demo", "from-file"]);
  });

  test("[API-2-13] the environment wins over the defaults, flags win over the environment", async () => {
    const env = { TOOLPLANE_URL: "http://a:1/", TOOLPLANE_TOKEN: "t1", TOOLPLANE_PROJECT: "p1" };
    const fromEnv = await settings({}, env);
    expect([fromEnv.url, fromEnv.project, await fromEnv.readToken()]).toEqual(["http://a:1", "p1", "t1"]);
    const fromFlags = await settings({ url: "https://b/base/", token: "t2", project: "p2" }, env);
    expect([fromFlags.url, fromFlags.project, await fromFlags.readToken()]).toEqual(["https://b/base", "p2", "t2"]);
  });

  test.each([
    ["--data", { data: "/elsewhere" }, {}, "from-elsewhere"],
    ["TOOLPLANE_DATA", {}, { TOOLPLANE_DATA: "/elsewhere" }, "from-elsewhere"],
    ["a directory without a token", { data: "/nowhere" }, {}, undefined],
    ["an empty variable", {}, { TOOLPLANE_TOKEN: " " }, "from-file"],
  ])("the token's place: %s", async (_, flags, env, token) => {
    expect(await (await settings(flags, env)).readToken()).toBe(token);
  });

  test("[API-2-K4] the token of the data directory goes to this machine only", async () => {
    expect(await (await settings({ url: "http://localhost:7420" })).readToken()).toBe("from-file");
    expect(await (await settings({ url: "http://[::1]:7420" })).readToken()).toBe("from-file");
    expect(await (await settings({ url: "https://toolplane.example" })).readToken()).toBeUndefined();
    expect(await (await settings({ url: "http://127.0.0.1.example" })).readToken()).toBeUndefined();
    expect(await (await settings({ url: "https://toolplane.example", token: "given" })).readToken()).toBe("given");
  });

  test.each(["ftp://x", "nonsense", "http://user:secret@x"])("%s is not an address", async (url) => {
    await expect(settings({ url })).rejects.toThrow(/--url takes an address|put the token into --token/);
  });

  test.each([
    ["the server of the data directory, on its own port", "http://127.0.0.1:4711\n", "http://127.0.0.1:4711"],
    ["an address of another machine counts as none", "http://toolplane.example:80\n", "http://127.0.0.1:7420"],
    ["what is not an address counts as none", "nonsense", "http://127.0.0.1:7420"],
  ])("[API-2-K40] %s", async (_, text, expected) => {
    const files = { "/somewhere/.toolplane/address": text };
    expect((await readSettings({}, createFakeTerminal({ files }).io)).url).toBe(expected);
  });

  test("[API-2-K40] a flag and the environment win over the data directory", async () => {
    const { io } = createFakeTerminal({ files: { "/somewhere/.toolplane/address": "http://127.0.0.1:4711" } });
    expect((await readSettings({ url: "http://b:1" }, io)).url).toBe("http://b:1");
  });
});
