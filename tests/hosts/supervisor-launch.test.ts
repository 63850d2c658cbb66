// How a host is started: what it gets and what it may touch, seen from inside.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostOptions } from "@toolplane/bridges";
import { tryReadProcess } from "@toolplane/processes";
import type { JsonObject } from "@toolplane/protocol";
import { badHostCommand } from "@toolplane/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { createHostOpener } from "./host-opener.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolplane-host-")));
mkdirSync(join(folder, "data"));
writeFileSync(join(folder, "secret.txt"), "s3cret");
writeFileSync(join(folder, "data", "open.txt"), "open");

const openHost = createHostOpener();

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const OURS = {
  PATH: process.env.PATH,
  HOME: "/h",
  LANG: "C",
  TOKEN: "t",
  ALLOWED: "a",
  NODE_OPTIONS: "--no-such-option",
};

const reveal = async (change: Partial<HostOptions>, args: JsonObject = {}): Promise<JsonObject> => {
  const limits = { helloMs: 20_000, startupMs: 60_000 };
  const command = badHostCommand("revealing");
  const host = openHost({ name: "seen", command, cwd: folder, limits, ...change }, { env: OURS });
  const { outcome } = await host.execute({ toolName: "bad", arguments: args, deadlineMs: 60_000 });
  if (outcome.status === "failed") throw outcome.error;
  return outcome.result as JsonObject;
};

describe("what it gets", () => {
  test("[HOST-4-1] [HOST-4-19] its argv byte by byte, the allowed variables, its folder, our Node, a group of its own", async () => {
    const nasty = ["$HOME", "`id`", "; exit", "a b", "*"];
    const seen = await reveal({
      command: [...badHostCommand("revealing"), ...nasty],
      env: ["ALLOWED", "MISSING"],
    });
    expect(seen.argv).toEqual(["revealing", ...nasty]);
    // Some shells add the name of the command; the mark is what its processes are found by.
    expect((seen.env as string[]).filter((name) => name !== "_" && name !== "TOOLPLANE_MARK")).toEqual([
      "ALLOWED",
      "HOME",
      "LANG",
      "PATH",
    ]);
    expect(seen.cwd).toBe(folder);
    expect(seen.node).toBe(process.execPath);
    expect(tryReadProcess(seen.pid as number)?.pgid).toBe(seen.pid);
  });
});

describe("a sandbox", () => {
  const wish = { read: join(folder, "secret.txt"), write: join(folder, "data", "new.txt") };

  test("[HOST-4-P6] everything but the program is denied unless it is named, and the host works", async () => {
    // The program's own parts are found: its package is linked into node_modules above it.
    expect(await reveal({ sandbox: {} }, wish)).toMatchObject({
      read: "ERR_ACCESS_DENIED",
      write: "ERR_ACCESS_DENIED",
      spawn: "ERR_ACCESS_DENIED",
    });
    expect(
      await reveal({ sandbox: { read: ["secret.txt"], write: ["data"], childProcess: true } }, wish),
    ).toMatchObject({
      read: "done",
      write: "done",
      spawn: "done",
    });
    expect(readFileSync(wish.write, "utf8")).toBe("x");
    expect(await reveal({}, wish)).toMatchObject({ read: "done", write: "done", spawn: "done" });
  });

  test("[SEC-9-U5] a folder that holds closed ones is opened without them; /proc is always closed", async () => {
    const plane = join(folder, "work", ".toolplane");
    mkdirSync(plane, { recursive: true });
    writeFileSync(join(plane, "token"), "t0ken");
    writeFileSync(join(folder, "work", "open.txt"), "open");
    const fenced = { sandbox: { read: ["work"], write: ["work"] }, closed: [plane] };
    const tryBoth = (read: string, write: string) => reveal(fenced, { read, write });
    const token = join(plane, "token");
    expect(await tryBoth(token, token)).toMatchObject({ read: "ERR_ACCESS_DENIED", write: "ERR_ACCESS_DENIED" });
    const file = join(folder, "work", "open.txt");
    expect(await tryBoth(file, file)).toMatchObject({ read: "done", write: "done" });
    for (const read of ["/proc/self/environ", `/proc/${process.pid}/environ`])
      expect(await reveal(fenced, { read, write: read })).toMatchObject({ read: "ERR_ACCESS_DENIED" });
  });

  test("[SEC-9-U8] a link to a directory in a named folder leads nowhere: the host is refused", async () => {
    for (const made of ["linked", "elsewhere/target"]) mkdirSync(join(folder, made), { recursive: true });
    writeFileSync(join(folder, "elsewhere", "beside.txt"), "s3cret");
    symlinkSync(join(folder, "elsewhere", "target"), join(folder, "linked", "way"));
    const args = { read: `${folder}/linked/way/../beside.txt`, write: join(folder, "nowhere") };
    const words = `the sandbox names ${folder}/linked, and ${folder}/linked/way in it is a link to a directory`;
    await expect(reveal({ sandbox: { read: ["linked"] } }, args)).rejects.toThrow(words);
    await expect(reveal({ sandbox: { write: ["linked"] } }, args)).rejects.toThrow(words);
  });

  test("[SEC-9-U8] the links of a workspace's node_modules lead nowhere either", async () => {
    // The program of this host stands in this workspace, whose packages are links in node_modules.
    const workspace = realpathSync(join(import.meta.dirname, "..", ".."));
    const read = `${workspace}/node_modules/@toolplane/protocol/../../LICENSE`;
    expect(readFileSync(read, "utf8")).not.toBe("");
    const write = join(folder, "nowhere");
    expect(await reveal({ sandbox: {} }, { read, write })).toMatchObject({ read: "ERR_ACCESS_DENIED" });
  });

  test("[HOST-4-P6] a neighbour that is not named cannot be loaded, and what Node says is kept", async () => {
    writeFileSync(join(folder, "two.ts"), 'import "./neighbour.ts";');
    writeFileSync(join(folder, "neighbour.ts"), "");
    const host = openHost({
      name: "fenced",
      command: ["node", "two.ts"],
      cwd: folder,
      sandbox: {},
      limits: { helloMs: 20_000, startupMs: 60_000 },
    });
    await expect(host.start()).rejects.toMatchObject({ code: "upstream_unavailable" });
    expect(host.status().lastStderr.join("\n")).toContain("ERR_ACCESS_DENIED");
  });

  test("[HOST-4-P6] a program of one file with a package beside it needs nothing to be named", async () => {
    const dependency = join(folder, "node_modules", "dep");
    mkdirSync(dependency, { recursive: true });
    writeFileSync(join(dependency, "package.json"), '{"name":"dep","type":"module","exports":"./index.js"}');
    writeFileSync(join(dependency, "index.js"), "export const word = 'dep';");
    writeFileSync(
      join(folder, "small.ts"),
      `import { word } from "dep";
       import { createInterface } from "node:readline";
       import { readFileSync } from "node:fs";
       const say = (id: string, value: unknown): void => console.log(JSON.stringify({ v: 1, id, ok: true, result: { value, state: {} } }));
       const tryRead = (): string => { try { readFileSync("secret.txt"); return "read"; } catch (error) { return (error as { code: string }).code; } };
       createInterface({ input: process.stdin }).on("line", (line) => {
         const { id, method } = JSON.parse(line) as { id: string; method: string };
         say(id, method === "execute_tool" ? { success: true, result: [word, tryRead()] } : method === "get_tool_schemas" ? [] : {});
       });`,
    );
    const host = openHost({
      name: "small",
      command: ["node", "./small.ts"],
      cwd: folder,
      sandbox: {},
      limits: { helloMs: 20_000, startupMs: 60_000 },
    });
    const { outcome } = await host.execute({ toolName: "x", arguments: {}, deadlineMs: 60_000 });
    expect(outcome).toMatchObject({ result: ["dep", "ERR_ACCESS_DENIED"] });
  });
});

describe("a host that takes longer to start than it is given to answer hello", () => {
  const startSlowly = async (habit: string, extended: boolean) => {
    const [, ...program] = badHostCommand(habit, extended);
    const slow = ["sh", "-c", 'sleep 1; exec "$@"', "sh", process.execPath, ...program];
    const host = openHost({
      name: "slow",
      command: slow,
      cwd: folder,
      limits: { helloMs: 300, startupMs: 30_000 },
    });
    const { extensions } = await host.start();
    const { outcome } = await host.execute({ toolName: "echo", arguments: {}, deadlineMs: 30_000 });
    const ready = host.status().processes.filter(({ state }) => state === "ready");
    return { extensions, status: outcome.status, seen: ready.map((process) => process.extensions) };
  };

  test("[HOST-4-18] is asked once more with time enough, and keeps its extensions", async () => {
    const { extensions, status, seen } = await startSlowly("honest", true);
    expect([extensions.includes("cancel"), status]).toEqual([true, "success"]);
    expect(seen).toEqual([extensions]);
  });

  test("[HOST-4-18] and is plain v1 when it stays silent", async () => {
    expect(await startSlowly("silent_on_hello", false)).toEqual({ extensions: [], status: "success", seen: [[]] });
  });
});
