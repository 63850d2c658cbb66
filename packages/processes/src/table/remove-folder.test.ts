import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeFolder } from "./remove-folder.ts";

const isRoot = process.getuid?.() === 0;
const UID = 60_900;

test("[SEC-9-U6] a folder is removed with the rights of the user that wrote into it: what that user may not remove stays", async () => {
  const home = mkdtempSync(join(tmpdir(), "remove-folder-"));
  mkdirSync(join(home, "own"));
  writeFileSync(join(home, "own", "file"), "x");
  const victim = join(home, "roots");
  mkdirSync(victim);
  writeFileSync(join(victim, "file"), "x");
  if (isRoot) for (const path of [home, join(home, "own"), join(home, "own", "file")]) chownSync(path, UID, UID);
  await removeFolder(home, isRoot ? UID : undefined);
  expect([existsSync(join(home, "own")), existsSync(join(victim, "file"))]).toEqual([false, isRoot]);
  rmSync(home, { recursive: true, force: true });
});
