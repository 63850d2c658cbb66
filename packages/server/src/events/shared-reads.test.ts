import { expect, test } from "vitest";
import { createSharedReads } from "./shared-reads.ts";

test("[LIM-door-3] readers that ask while a read is under way share the next one, which begins after they asked", async () => {
  const reads = createSharedReads<string>();
  const begun: PromiseWithResolvers<string>[] = [];
  const ask = (): Promise<string> =>
    reads.read("here", () => {
      const one = Promise.withResolvers<string>();
      begun.push(one);
      return one.promise;
    });
  const first = ask();
  const [second, third] = [ask(), ask()];
  expect(begun).toHaveLength(1);
  begun[0]?.resolve("old");
  expect(await first).toBe("old");
  expect(begun).toHaveLength(2);
  const fourth = ask();
  begun[1]?.resolve("new");
  expect(await Promise.all([second, third])).toEqual(["new", "new"]);
  expect(begun).toHaveLength(3);
  begun[2]?.resolve("newest");
  expect(await fourth).toBe("newest");
  expect(await reads.read("there", async () => "elsewhere")).toBe("elsewhere");
});

test("[LIM-door-3] a read that fails is not kept", async () => {
  const reads = createSharedReads<string>();
  const failed = reads.read("here", async () => {
    throw new RangeError("away");
  });
  const next = reads.read("here", async () => "back");
  await expect(failed).rejects.toThrow("away");
  expect(await next).toBe("back");
  expect(await reads.read("here", async () => "again")).toBe("again");
});

test("[LIM-door-3] a few reads go on at once, whatever the number of readers, and a failed one frees its place", async () => {
  const reads = createSharedReads<number>();
  const ends: (() => void)[] = [];
  let most = 0;
  let now = 0;
  const asked = Array.from({ length: 20 }, (_, n) =>
    reads.read(`place ${n}`, async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise<void>((resolve) => ends.push(resolve));
      now -= 1;
      if (n % 2 === 0) throw new RangeError("away");
      return n;
    }),
  );
  const all = Promise.allSettled(asked);
  for (let ended = 0; ended < 20; ) {
    await Promise.resolve();
    const end = ends.shift();
    if (end === undefined) continue;
    end();
    ended += 1;
  }
  expect((await all).filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  expect(most).toBe(3);
});
