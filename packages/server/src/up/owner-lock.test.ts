import { createTestDatabase } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { planRestartPause } from "./embedded-store.ts";
import { type LockAttempt, nameOwner, type OwnerLock, parseOwner, tryLock } from "./owner-lock.ts";

test.each([
  [{ pid: 12, address: "127.0.0.1:7420" }, "toolplane up 12 127.0.0.1:7420"],
  [{ pid: 12, address: undefined }, "toolplane up 12"],
  [{ pid: 12, address: "[::1]:7420" }, "toolplane up 12 [::1]:7420"],
])("an owner is known by the name of its connection: %j", (owner, name) => {
  expect(nameOwner(owner)).toBe(name);
  expect(parseOwner(name)).toEqual(owner);
  // What the server keeps of a name.
  expect(name.length).toBeLessThan(64);
});

test.each(["", "psql", "toolplane", "toolplane up x"])("%j says nothing", (name) => {
  expect(parseOwner(name).pid).toBe(0);
});

test("[UP-5-2] a server is started again at once, then with pauses that grow to a limit", () => {
  expect([0, 1, 2, 3, 4].map(planRestartPause)).toEqual([0, 200, 400, 800, 1_600]);
  expect(planRestartPause(50)).toBe(10_000);
});

const taken = (attempt: LockAttempt): OwnerLock => {
  expect(attempt.state).toBe("locked");
  return (attempt as Extract<LockAttempt, { state: "locked" }>).lock;
};

test("[UP-5-3] a lock is known by its connection: one that is dropped but not gone yet is not another owner", async () => {
  const database = await createTestDatabase({ name: "lock", migrate: async () => undefined });
  const self = { pid: 12, address: undefined };
  try {
    const old = taken(await tryLock(database.url, self));
    expect(await tryLock(database.url, self)).toEqual({ state: "owned", owner: self, backend: old.backend });
    await old.release();
    await old.lost;
    const locks: OwnerLock[] = [];
    await expect
      .poll(async () => {
        const attempt = await tryLock(database.url, self);
        if (attempt.state === "locked") locks.push(attempt.lock);
        return attempt.state;
      })
      .toBe("locked");
    const [fresh] = locks;
    expect(fresh?.backend).not.toBe(old.backend);
    await fresh?.release();
  } finally {
    await database.drop();
  }
});
