// What is published loads under plain Node, without the `source` condition that development uses, and offers what the
// sources offer.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { guardProgram } from "@toolplane/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { openStack } from "./scenarios/stack.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGES = globSync("packages/*/src/index.ts", { cwd: ROOT }).map((path) => basename(dirname(dirname(path))));

type Names = Readonly<Record<string, readonly string[]>>;

/** Package -> what it exports. One program loads all of them: most are loaded by the others anyway. */
const readNames = (...conditions: readonly string[]): Names => {
  const code = `const names = {};
    for (const name of ${JSON.stringify(PACKAGES)}) names[name] = Object.keys(await import("@toolplane/" + name)).sort();
    console.log(JSON.stringify(names));`;
  const argv = [...conditions, "--input-type=module", "--eval", code];
  return JSON.parse(execFileSync(process.execPath, argv, { cwd: ROOT, encoding: "utf8" })) as Names;
};

let [built, source]: readonly Names[] = [];
beforeAll(() => {
  execFileSync(process.execPath, ["scripts/build.ts", "--unchecked"], { cwd: ROOT, stdio: "inherit" });
  built = readNames();
  source = readNames("--conditions=source");
  // A compiler takes twenty seconds of a core, and on a busy machine it gets little of one.
}, 600_000);

describe("[REPO-3-5] the build", () => {
  test.each(PACKAGES)("%s loads as plain ESM and exports what its source exports", (name) => {
    expect(built?.[name]?.length).toBeGreaterThan(0);
    expect(built?.[name]).toEqual(source?.[name]);
  });

  test.each(PACKAGES)("%s ships declarations and no test", (name) => {
    const files = globSync("**/*", { cwd: `${ROOT}packages/${name}/dist` });
    expect(files).toContain("index.d.ts");
    expect(files.filter((file) => file.includes(".test") || file.endsWith(".tsbuildinfo"))).toEqual([]);
  });

  test("carries the migrations, which no compiler copies", () => {
    const list = (folder: string): readonly string[] =>
      globSync(`packages/*/${folder}/**/*.sql`, { cwd: ROOT }).map((path) => path.replace(`/${folder}/`, "/"));
    expect(list("dist").toSorted()).toEqual(list("src").toSorted());
    expect(list("dist")).not.toEqual([]);
  });
});

describe("[SLICE-packed] [REPO-pack] packed and installed in an empty folder", () => {
  test("the five-line tool runs as written, against a running stack, over HTTP and over NATS", {
    timeout: 180_000,
  }, async () => {
    await using stack = await openStack({ bus: "nats" });
    const folder = mkdtempSync(join(tmpdir(), "toolplane-packed-"));
    const npm = (...argv: readonly string[]): string =>
      execFileSync("npm", [...argv, "--no-fund", "--no-audit", "--loglevel=error"], { cwd: folder, encoding: "utf8" });
    execFileSync(process.execPath, ["scripts/pack.ts", folder, "--built"], { cwd: ROOT, stdio: "ignore" });
    const names = globSync("toolplane-*.tgz", { cwd: folder }).map((name) => name.split("-")[1] ?? "");
    expect(names.toSorted()).toEqual([...PACKAGES.filter((name) => name !== "testkit"), "console"].toSorted());
    const packed = ["protocol", "bus", "sdk"].flatMap((name) => globSync(`${folder}/toolplane-${name}-*.tgz`));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    npm("install", ...packed, "zod@4");
    cpSync(`${ROOT}examples/node-tool/count-words.ts`, join(folder, "tool.ts"));
    const callThrough = async (url: string): Promise<unknown> => {
      const env = { ...process.env, TOOLPLANE_URL: url, TOOLPLANE_TOKEN: stack.token(), TOOLPLANE_PROJECT: "demo" };
      const service = spawn(process.execPath, ["tool.ts"], {
        cwd: folder,
        env,
        stdio: ["ignore", "inherit", "inherit"],
      });
      await guardProgram(service, "packed service");
      try {
        const call = { tool_name: "count_words", arguments: { text: "packed and installed" }, wait_seconds: 30 };
        let answer = await stack.api("POST", "/projects/demo/calls", call);
        while (answer.status === 404) answer = await stack.api("POST", "/projects/demo/calls", call);
        return answer.body;
      } finally {
        const gone = once(service, "exit");
        service.kill("SIGTERM");
        await gone;
      }
    };
    try {
      for (const url of [stack.url(), stack.natsUrl ?? ""])
        expect(await callThrough(url)).toMatchObject({ status: "success", result: { words: 3 } });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
