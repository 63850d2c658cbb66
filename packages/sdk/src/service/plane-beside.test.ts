import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findPlaneBeside } from "./plane-beside.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "toolplane-beside-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (data: string, address: string): void => {
  mkdirSync(join(folder, data), { recursive: true });
  writeFileSync(join(folder, data, "address"), address);
};

test("[SEE-20] the address that a running plane wrote down is found, in .toolplane or in TOOLPLANE_DATA", () => {
  expect(findPlaneBeside({}, folder)).toBeUndefined();
  write(".toolplane", "http://127.0.0.1:7999\n");
  write("elsewhere", "http://[::1]:8000\n");
  expect(findPlaneBeside({ TOOLPLANE_DATA: " " }, folder)).toBe("http://127.0.0.1:7999");
  expect(findPlaneBeside({ TOOLPLANE_DATA: "elsewhere" }, folder)).toBe("http://[::1]:8000");
});

test.each(["http://plane.example:7420", "https://127.0.0.1:1", "nonsense", ""])(
  "[SEE-20] %j is not taken: an address in a file counts only for this machine",
  (address) => {
    write("odd", address);
    expect(findPlaneBeside({ TOOLPLANE_DATA: "odd" }, folder)).toBeUndefined();
  },
);
