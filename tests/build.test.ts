// What is published loads under plain Node, without the `source` condition that development uses, and offers what the
// sources offer.

import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGES = globSync("packages/*/src/index.ts", { cwd: ROOT }).map((path) => basename(dirname(dirname(path))));

const namesOf = (name: string, ...conditions: readonly string[]): unknown => {
  const code = `import * as all from "@toolplane/${name}"; console.log(JSON.stringify(Object.keys(all).sort()));`;
  const argv = [...conditions, "--input-type=module", "--eval", code];
  return JSON.parse(execFileSync(process.execPath, argv, { cwd: ROOT, encoding: "utf8" }));
};

describe("[REPO-3-5] the build", () => {
  beforeAll(() => {
    execFileSync(process.execPath, ["scripts/build.ts"], { cwd: ROOT, stdio: "inherit" });
  });

  test.each(PACKAGES)("%s loads as plain ESM and exports what its source exports", (name) => {
    const built = namesOf(name);
    expect(built).not.toEqual([]);
    expect(built).toEqual(namesOf(name, "--conditions=source"));
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
