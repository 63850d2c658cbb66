import { describe, expect, test } from "vitest";
import { createFakeTerminal } from "../../test/cli/fake-terminal.ts";
import { readSettings } from "./settings.ts";

const FILES = { "/somewhere/.toolplane/token": "from-file\n", "/elsewhere/token": "from-elsewhere\n" };

const settings = (flags: Parameters<typeof readSettings>[0], env: Record<string, string> = {}) =>
  readSettings(flags, createFakeTerminal({ files: FILES, env }).io);

describe("settings", () => {
  test("[API-2-13] without anything: the local server, its token, the project demo", async () => {
    const { url, project, readToken } = settings({});
    expect([url, project, await readToken()]).toEqual(["http://127.0.0.1:7420", "demo", "from-file"]);
  });

  test("[API-2-13] the environment wins over the defaults, flags win over the environment", async () => {
    const env = { TOOLPLANE_URL: "http://a:1/", TOOLPLANE_TOKEN: "t1", TOOLPLANE_PROJECT: "p1" };
    const fromEnv = settings({}, env);
    expect([fromEnv.url, fromEnv.project, await fromEnv.readToken()]).toEqual(["http://a:1", "p1", "t1"]);
    const fromFlags = settings({ url: "https://b/base/", token: "t2", project: "p2" }, env);
    expect([fromFlags.url, fromFlags.project, await fromFlags.readToken()]).toEqual(["https://b/base", "p2", "t2"]);
  });

  test.each([
    ["--data", { data: "/elsewhere" }, {}, "from-elsewhere"],
    ["TOOLPLANE_DATA", {}, { TOOLPLANE_DATA: "/elsewhere" }, "from-elsewhere"],
    ["a directory without a token", { data: "/nowhere" }, {}, undefined],
    ["an empty variable", {}, { TOOLPLANE_TOKEN: " " }, "from-file"],
  ])("the token's place: %s", async (_, flags, env, token) => {
    expect(await settings(flags, env).readToken()).toBe(token);
  });

  test("[API-2-K4] the token of the data directory goes to this machine only", async () => {
    expect(await settings({ url: "http://localhost:7420" }).readToken()).toBe("from-file");
    expect(await settings({ url: "http://[::1]:7420" }).readToken()).toBe("from-file");
    expect(await settings({ url: "https://toolplane.example" }).readToken()).toBeUndefined();
    expect(await settings({ url: "http://127.0.0.1.example" }).readToken()).toBeUndefined();
    expect(await settings({ url: "https://toolplane.example", token: "given" }).readToken()).toBe("given");
  });

  test.each(["ftp://x", "nonsense", "http://user:secret@x"])("%s is no address", (url) => {
    expect(() => settings({ url })).toThrow(/--url takes an address|put the token into --token/);
  });
});
