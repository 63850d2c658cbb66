import { describe, expect, test } from "vitest";
import type { HostOptions } from "./host.ts";
import { planHostEnv, planLaunch } from "./launch.ts";
import { planSandboxArgs } from "./sandbox.ts";
import type { SandboxEntry, SandboxFiles } from "./sandbox-files.ts";
import { GUARD_ARGS } from "./sandbox-guard.ts";

const OURS = { PATH: "/bin", HOME: "/h", TMPDIR: "/t", LANG: "C", SECRET: "s", MORE: "m", EMPTY: "", GONE: undefined };

describe("variables", () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ["nothing asked for", [], ["HOME", "LANG", "PATH", "TMPDIR"]],
    ["one of ours", ["MORE"], ["HOME", "LANG", "MORE", "PATH", "TMPDIR"]],
    ["an empty one", ["EMPTY"], ["EMPTY", "HOME", "LANG", "PATH", "TMPDIR"]],
    ["one we do not have", ["GONE", "NEVER"], ["HOME", "LANG", "PATH", "TMPDIR"]],
    ["an inherited name is not a variable", ["toString"], ["HOME", "LANG", "PATH", "TMPDIR"]],
  ])("[HOST-4-1] [HOST-4-19] %s", (_name, allowed, names) => {
    expect(Object.keys(planHostEnv(OURS, allowed)).sort()).toEqual(names);
  });
});

const options = (change: Partial<HostOptions>): HostOptions => ({
  name: "text",
  command: ["node", "host.ts"],
  cwd: "/app",
  ...change,
});
const place = { env: OURS, node: "/opt/node/bin/node", hostProgram: "/opt/toolplane/host.mjs" };

describe("the command", () => {
  test("[HOST-4-19] toolplane-host means our own, run by the Node that runs us: the one on PATH may be out of reach", () => {
    const { argv } = planLaunch(options({ command: ["toolplane-host", "./tools.mjs"] }), place);
    expect(argv).toEqual(["/opt/node/bin/node", "/opt/toolplane/host.mjs", "./tools.mjs"]);
  });

  test("[HOST-4-19] node means the Node that runs us, and nothing else does", () => {
    expect(planLaunch(options({}), place).argv).toEqual(["/opt/node/bin/node", "host.ts"]);
    expect(planLaunch(options({ command: ["/usr/bin/node", "x"] }), place).argv).toEqual(["/usr/bin/node", "x"]);
    expect(planLaunch(options({ command: ["python3", "node"] }), place).argv).toEqual(["python3", "node"]);
  });

  test.each([
    ["an empty command", { command: [] }],
    ["an empty program", { command: [""] }],
    ["a folder that is not absolute", { cwd: "app" }],
  ])("[HOST-4-1] %s is refused", (_name, change) => {
    expect(() => planLaunch(options(change), place)).toThrow("host text");
  });

  test("[HOST-4-P6] a sandbox for something that is not Node is refused, with what to do", () => {
    const given = options({ command: ["python3", "x.py"], sandbox: {} });
    expect(() => planLaunch(given, place)).toThrow("write its command as [node, FILE] or remove the sandbox");
  });
});

const ENTRIES: Readonly<Record<string, readonly SandboxEntry[]>> = {
  "/app/node_modules": [
    { name: "zod", kind: "directory" },
    { name: "@own", kind: "directory" },
    { name: "@whole", kind: "directory" },
  ],
  "/app/node_modules/@own": [{ name: "lib", kind: "link" }],
  "/app/node_modules/@whole": [{ name: "lib", kind: "directory" }],
};
const FILES: SandboxFiles = {
  isFile: (path) => ["/app/src/host.ts", "/link.ts"].includes(path),
  isDirectory: (path) => ["/app/node_modules"].includes(path),
  tryRealPath: (path) =>
    ({ "/link.ts": "/app/src/host.ts", "/app/node_modules/@own/lib": "/app/packages/lib", "/app/data": "/mnt/data" })[
      path
    ] ?? path,
  entries: (path) => ENTRIES[path] ?? [],
};

describe("a sandbox", () => {
  test("[HOST-4-P6] names the program, its package files, its packages and nothing beside it", () => {
    const args = planSandboxArgs({}, ["--flag", "src/host.ts", "word"], "/app", FILES);
    expect(args).toEqual([
      "--permission",
      "--disable-sigusr1",
      ...GUARD_ARGS,
      "--allow-fs-read=/app/src/host.ts",
      "--allow-fs-read=/app/src/package.json",
      "--allow-fs-read=/app/package.json",
      "--allow-fs-read=/app/node_modules/zod",
      "--allow-fs-read=/app/node_modules/@own/lib",
      "--allow-fs-read=/app/packages/lib",
      "--allow-fs-read=/app/node_modules/@whole",
      "--allow-fs-read=/package.json",
    ]);
  });

  test("[HOST-4-P6] adds what is named, by its own and its real path; who may write may read", () => {
    const args = planSandboxArgs(
      { read: ["lib"], write: ["data"], childProcess: true },
      ["src/host.ts"],
      "/app",
      FILES,
    );
    expect(args).toContain("--allow-fs-read=/app/lib");
    expect(args.filter((arg) => arg.endsWith("data"))).toEqual([
      "--allow-fs-read=/app/data",
      "--allow-fs-read=/mnt/data",
      "--allow-fs-write=/app/data",
      "--allow-fs-write=/mnt/data",
    ]);
    expect(args).toContain("--allow-child-process");
  });

  test("a program behind a link, and no program at all", () => {
    const args = planSandboxArgs({}, ["/link.ts"], "/app", FILES);
    expect(args).toEqual(expect.arrayContaining(["--allow-fs-read=/link.ts", "--allow-fs-read=/app/src/host.ts"]));
    expect(() => planSandboxArgs({}, ["-e", "code"], "/app", FILES)).toThrow("needs the file of its program");
  });
});
