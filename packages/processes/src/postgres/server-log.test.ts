import { existsSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openServerLog } from "./server-log.ts";

test("the tail is what was written since the log was opened; a long log is set aside", () => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-log-"));
  const path = join(directory, "server.log");
  writeFileSync(path, "before\n");
  const log = openServerLog(path);
  writeSync(log.fd, "after\n");
  expect(log.tail()).toBe("after");
  log.close();
  truncateSync(path, 11 * 1024 * 1024);
  openServerLog(path).close();
  expect(statSync(path).size).toBe(0);
  expect(existsSync(`${path}.1`)).toBe(true);
  rmSync(directory, { recursive: true });
});
