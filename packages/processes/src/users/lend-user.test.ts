import { chownSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { pickRunAs } from "../postgres/run-as.ts";
import { HOST_UIDS, lendUser, parseUidMap, planUid, type UidRange } from "./lend-user.ts";

const [LARGE, SMALL] = HOST_UIDS as readonly [UidRange, UidRange];

test("a map of user numbers", () => {
  expect(parseUidMap("         0          0 4294967295\n")).toEqual([{ first: 0, last: 4_294_967_294 }]);
  expect(parseUidMap("0 1000 1\n1 100000 65536\n")).toEqual([
    { first: 0, last: 0 },
    { first: 1, last: 65_536 },
  ]);
  expect(parseUidMap("")).toEqual([]);
});

test.each<[string, readonly UidRange[] | undefined, number, number | undefined]>([
  ["all are mapped: the first", [{ first: 0, last: 4_294_967_294 }], 0, LARGE.first],
  ["all are mapped: the last", undefined, 0.999_999_999_999, LARGE.last],
  ["a usual container", [{ first: 0, last: 65_535 }], 0, SMALL.first],
  ["one user alone", [{ first: 0, last: 0 }], 0, undefined],
])("[SEC-9-U1] a number where %s", (_what, mapped, random, expected) => {
  expect(planUid({ mapped, taken: [], random: () => random })).toBe(expected);
});

test("[SEC-9-U1] a number that is taken is not given, also at the end of the range", () => {
  const mapped = [{ first: 0, last: 65_535 }];
  expect(planUid({ mapped, taken: [SMALL.last, SMALL.first], random: () => 0.999_999 })).toBe(SMALL.first + 1);
  const all = Array.from({ length: SMALL.last - SMALL.first + 1 }, (_, step) => SMALL.first + step);
  expect(planUid({ mapped, taken: all, random: () => 0 })).toBeUndefined();
});

test("[SEC-9-U1] no range holds root, nobody, or the user of the database", () => {
  for (const uid of [0, 65_534, 4_294_967_294, ...(pickRunAs() ? [pickRunAs()?.uid ?? 0] : [])])
    expect(HOST_UIDS.some(({ first, last }) => first <= uid && uid <= last)).toBe(false);
});

test("[SEC-9-U1] root lends a user with a closed home that goes with it; others lend none", async () => {
  const [one, other] = [lendUser(() => 0.5), lendUser(() => 0.5)];
  if (process.getuid?.() !== 0) {
    expect(one).toBeUndefined();
    return;
  }
  expect(one?.uid).not.toBe(other?.uid);
  const { uid, gid, mode } = statSync(one?.home ?? "");
  expect([uid, gid, mode & 0o777]).toEqual([one?.uid, one?.gid, 0o700]);
  await Promise.all([one?.takeBack(), other?.takeBack()]);
  expect(existsSync(one?.home ?? "")).toBe(false);
});

test.runIf(process.getuid?.() === 0)(
  "[SEC-9-U10] the home of a host whose server was killed is removed when the next user is lent",
  async () => {
    const first = lendUser(() => 0.25);
    const root = dirname(first?.home ?? "");
    // No process has this number.
    const left = join(root, "toolplane-host-4194305-abc");
    const foreign = join(root, "toolplane-host-4194305-root");
    for (const path of [left, foreign]) mkdirSync(path, { recursive: true });
    writeFileSync(join(left, "file"), "x");
    chownSync(left, 60_123, 60_123);
    const second = lendUser(() => 0.5);
    try {
      await expect.poll(() => existsSync(left), { timeout: 20_000 }).toBe(false);
      expect([existsSync(first?.home ?? ""), existsSync(foreign)]).toEqual([true, true]);
    } finally {
      rmSync(foreign, { recursive: true, force: true });
      await first?.takeBack();
      await second?.takeBack();
    }
  },
);
