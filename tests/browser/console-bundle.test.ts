// What is shipped of the console, read from its files.

import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DIST = `${ROOT}packages/console/dist/`;
const MOST_BYTES = 400_000;

test("[CON-size] the files are small, hold no inline script or style, and name no other host", () => {
  execFileSync(process.execPath, ["scripts/build-console.ts", "--if-changed"], { cwd: ROOT, stdio: "inherit" });
  const packed = globSync("**/*.gz", { cwd: DIST }).map((name) => readFileSync(DIST + name).length);
  expect(packed.length).toBeGreaterThan(2);
  expect(packed.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(MOST_BYTES);
  const html = readFileSync(`${DIST}index.html`, "utf8");
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*src=)|\son\w+=/);
  const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address);
  expect(addresses.filter((address) => address?.startsWith("/") !== true)).toEqual([]);
  const styles = globSync("assets/*.css", { cwd: DIST }).map((name) => readFileSync(DIST + name, "utf8"));
  expect(styles.join("")).not.toMatch(/https?:|@import/);
});
