import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSettings } from "./read-settings.ts";

const isRoot = process.getuid?.() === 0;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "settings-"));
  writeFileSync(join(folder, "toolplane.yaml"), "project: demo\n", { mode: 0o644 });
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (config?: string) => readSettings(config === undefined ? {} : { config }, { env: {}, cwd: folder });

test("[SEC-16-G2] a file of one's own is read", () => {
  expect(read().project).toBe("demo");
});

test.runIf(isRoot)(
  "[SEC-16-G2] root reads no file that was found and that another user owns or can write, unless it is named",
  () => {
    const path = join(folder, "toolplane.yaml");
    chownSync(path, 65_534, 65_534);
    expect(() => read()).toThrow("toolplane.yaml: it belongs to user 65534");
    expect(read("toolplane.yaml").project).toBe("demo");
    chownSync(path, 0, 0);
    chmodSync(path, 0o666);
    expect(() => read()).toThrow("users other than root can write it");
  },
);
