import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canReach, pickMaker, pickPreviousRunAs, pickRunAs, tryParseNobody } from "./run-as.ts";

test.each([
  [
    "Debian",
    "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
    { uid: 65_534, gid: 65_534 },
  ],
  ["macOS", "nobody:*:-2:-2:Unprivileged User:/var/empty:/usr/bin/false", { uid: 4_294_967_294, gid: 4_294_967_294 }],
  ["another account whose name begins the same", "nobody2:x:7:7::/:", undefined],
  ["a nobody that is root", "nobody:x:0:0::/:", undefined],
  ["nothing", "", undefined],
])("nobody of %s", (_what, passwd, expected) => {
  expect(tryParseNobody(passwd)).toEqual(expected);
});

test("only root lends another user", () => {
  const runAs = pickRunAs();
  if (process.getuid?.() === 0) expect(runAs?.uid).toBeGreaterThan(0);
  else expect(runAs).toBeUndefined();
});

test("the database's user is not the one others share; initdb borrows an account and keeps the database's group", () => {
  const runAs = pickRunAs();
  const maker = pickMaker(runAs);
  if (runAs === undefined) expect([maker, pickPreviousRunAs()]).toEqual([undefined, undefined]);
  else {
    expect(runAs.uid).not.toBe(pickPreviousRunAs()?.uid);
    expect(maker).toEqual({ uid: pickPreviousRunAs()?.uid, gid: runAs.gid });
  }
  expect(pickMaker({ uid: 7, gid: 7 })).toEqual({ uid: 7, gid: 7 });
});

test("a directory below a closed one cannot be reached by the other user, and what is not there by nobody", () => {
  const root = mkdtempSync("/tmp/toolplane-reach-");
  const inner = join(root, "inner");
  mkdirSync(inner);
  chmodSync(root, 0o755);
  expect(canReach(inner, pickRunAs())).toBe(true);
  chmodSync(root, 0o700);
  expect(canReach(inner, pickRunAs())).toBe(pickRunAs() === undefined);
  expect(canReach(inner, undefined)).toBe(true);
  expect(canReach(join(root, "nothing"), undefined)).toBe(false);
  expect(canReach("/bin", undefined, "/bin/sh")).toBe(true);
  expect(canReach("/bin", undefined, "/bin/no-such-program")).toBe(false);
  rmSync(root, { recursive: true });
});
