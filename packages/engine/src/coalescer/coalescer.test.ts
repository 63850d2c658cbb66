import { ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { type CoalescerOptions, createCoalescer } from "./coalescer.ts";

interface Flight {
  readonly items: readonly string[];
  /** Answers with `done:` and the item, or with what is given. */
  land(outcomes?: readonly (string | Error)[]): Promise<void>;
  crash(error: Error): Promise<void>;
}

/** A flush that waits to be landed by the test. */
const createTower = (options: Partial<CoalescerOptions<string, string>> = {}) => {
  const flights: Flight[] = [];
  const settle = async (act: () => void): Promise<void> => {
    act();
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  const coalescer = createCoalescer<string, string>({
    flush: (items) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly (string | Error)[]>();
      flights.push({
        items: [...items],
        land: (outcomes = items.map((item) => `done:${item}`)) => settle(() => resolve(outcomes)),
        crash: (error) => settle(() => reject(error)),
      });
      return promise;
    },
    ...options,
  });
  const tick = () => settle(() => {});
  const flight = (index: number): Flight => {
    const found = flights[index];
    if (found === undefined) throw new ToolplaneError("internal_error", `there is no flight ${index}`);
    return found;
  };
  return { coalescer, flights, flight, tick, landed: () => flights.map(({ items }) => items) };
};

const boom = (code: "internal_error" | "storage_error" = "internal_error") => new ToolplaneError(code, "boom");

describe("taking turns", () => {
  test("[ENG-line-turns] an item does not wait for the hundreds of another group that came before it", async () => {
    const { coalescer, flight, tick, landed } = createTower({
      maxItems: 4,
      inFlight: 1,
      groupOf: (item) => item.slice(0, 1),
    });
    const many = Array.from({ length: 600 }, (_, n) => coalescer.submit(`b${n}`));
    await tick();
    const alone = coalescer.submit("a0");
    await flight(0).land();
    expect(landed()[1]).toEqual(["b4", "a0", "b5", "b6"]);
    await flight(1).land();
    expect(await alone).toBe("done:a0");
    for (let n = 2; n < landed().length; n++) await flight(n).land();
    expect(await Promise.all(many)).toEqual(many.map((_, n) => `done:b${n}`));
  });

  test("[ENG-line-turns] with more groups than a flush takes, the next flush begins with the next group", async () => {
    const { coalescer, flight, tick, landed } = createTower({ maxItems: 2, inFlight: 1, groupOf: (item) => item });
    const answers = ["a", "a", "b", "c", "c", "a"].map((item) => coalescer.submit(item));
    await tick();
    for (let n = 0; n < landed().length; n++) await flight(n).land();
    expect(landed()).toEqual([
      ["a", "b"],
      ["c", "a"],
      ["c", "a"],
    ]);
    await Promise.all(answers);
  });
});

describe("collecting", () => {
  test("a lone item leaves in the same tick, without a timer", async () => {
    const { coalescer, flight, tick, landed } = createTower();
    const answer = coalescer.submit("a");
    await tick();
    expect(landed()).toEqual([["a"]]);
    await flight(0).land();
    expect(await answer).toBe("done:a");
  });

  test("what is submitted together travels together, and each gets its own answer", async () => {
    const { coalescer, flight, tick, landed } = createTower();
    const answers = ["a", "b", "c"].map((item) => coalescer.submit(item));
    await tick();
    expect(landed()).toEqual([["a", "b", "c"]]);
    await flight(0).land();
    expect(await Promise.all(answers)).toEqual(["done:a", "done:b", "done:c"]);
  });

  test("what arrives while all flights are out goes together when one lands", async () => {
    const { coalescer, flight, tick, landed } = createTower({ inFlight: 1 });
    const answers = [coalescer.submit("a")];
    await tick();
    for (const item of ["b", "c", "d"]) answers.push(coalescer.submit(item));
    await tick();
    expect(landed()).toEqual([["a"]]);
    await flight(0).land();
    expect(landed()).toEqual([["a"], ["b", "c", "d"]]);
    await flight(1).land();
    await Promise.all(answers);
  });

  test("an outcome that is an error rejects its caller alone", async () => {
    const { coalescer, flight, tick } = createTower();
    const answers = ["a", "b"].map((item) => coalescer.submit(item));
    await tick();
    await flight(0).land(["fine", boom()]);
    expect(await Promise.allSettled(answers)).toMatchObject([{ value: "fine" }, { reason: { message: "boom" } }]);
  });

  test("fewer outcomes than items reject those left over", async () => {
    const { coalescer, flight, tick } = createTower();
    const answers = ["a", "b"].map((item) => coalescer.submit(item));
    await tick();
    await flight(0).land(["fine"]);
    expect(await Promise.allSettled(answers)).toMatchObject([
      { value: "fine" },
      { reason: { code: "internal_error" } },
    ]);
  });
});

describe("C1, C4: keys", () => {
  const keyOf = (item: string): string => item[0] ?? "";

  test("[ARCH-5-E1] at most one item per key in a flush; the others go next", async () => {
    const { coalescer, flight, tick, landed } = createTower({ keyOf, inFlight: 1 });
    const answers = ["a1", "a2", "b1", "a3", "b2"].map((item) => coalescer.submit(item));
    await tick();
    for (let i = 0; i < 3; i++) await flight(i).land();
    await Promise.all(answers);
    expect(landed()).toEqual([["a1", "b1"], ["a2", "b2"], ["a3"]]);
  });

  test("[ARCH-5-E2] the next item of a key waits until the one before it is answered, though another flight is free", async () => {
    const { coalescer, flight, tick, landed } = createTower({ keyOf });
    const answers = ["a1", "a2", "b1"].map((item) => coalescer.submit(item));
    await tick();
    expect(landed()).toEqual([["a1", "b1"]]);
    answers.push(coalescer.submit("c1"));
    await tick();
    expect(landed()).toEqual([["a1", "b1"], ["c1"]]);
    await flight(1).land();
    expect(landed()).toHaveLength(2);
    await flight(0).land();
    expect(landed()[2]).toEqual(["a2"]);
    await flight(2).land();
    await Promise.all(answers);
  });

  test("[ARCH-5-E2] a key is free again after a crash", async () => {
    const { coalescer, flight, tick } = createTower({ keyOf });
    const [first, second] = [coalescer.submit("a1"), coalescer.submit("a2")];
    await tick();
    await flight(0).crash(boom());
    await expect(first).rejects.toThrow("boom");
    await flight(1).land();
    expect(await second).toBe("done:a2");
  });
});

describe("C2: caps", () => {
  test("a crowd is shared among the free flights; a smaller one is not", async () => {
    const { coalescer, flight, tick, landed } = createTower();
    const crowd = Array.from({ length: 201 }, (_, index) => coalescer.submit(String(index)));
    await tick();
    expect(landed().map(({ length }) => length)).toEqual([101, 100]);
    // One flight is free: all that wait at that moment go together.
    const late = Array.from({ length: 150 }, (_, index) => coalescer.submit(`late ${index}`));
    await flight(0).land();
    expect(landed().map(({ length }) => length)).toEqual([101, 100, 150]);
    await flight(1).land();
    await flight(2).land();
    await Promise.all([...crowd, ...late]);
    const few = Array.from({ length: 127 }, (_, index) => coalescer.submit(`few ${index}`));
    await tick();
    await flight(3).land();
    expect(await Promise.all(few)).toHaveLength(127);
  });

  test("[ARCH-5-E3] a flush is capped by count", async () => {
    const { coalescer, flight, tick, landed } = createTower({ maxItems: 2, inFlight: 1 });
    const answers = ["a", "b", "c", "d", "e"].map((item) => coalescer.submit(item));
    await tick();
    for (let i = 0; i < 3; i++) await flight(i).land();
    await Promise.all(answers);
    expect(landed()).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  });

  test("[ARCH-5-E3] a flush is capped by bytes; an item larger than the cap goes alone", async () => {
    const { coalescer, flight, tick, landed } = createTower({
      bytesOf: (item) => item.length,
      maxBytes: 4,
      inFlight: 1,
    });
    const answers = ["aa", "bb", "c", "dddddddd", "e"].map((item) => coalescer.submit(item));
    await tick();
    for (let i = 0; i < 4; i++) await flight(i).land();
    await Promise.all(answers);
    expect(landed()).toEqual([["aa", "bb"], ["c"], ["dddddddd"], ["e"]]);
  });

  test("[ARCH-5-E3] no more flights than allowed", async () => {
    const { coalescer, flight, tick, landed } = createTower({ maxItems: 1, inFlight: 2 });
    const answers = ["a", "b", "c"].map((item) => coalescer.submit(item));
    await tick();
    expect(landed()).toEqual([["a"], ["b"]]);
    expect(coalescer.stats()).toMatchObject({ inFlight: 2, waiting: 1 });
    await flight(1).land();
    expect(landed()).toHaveLength(3);
    await flight(0).land();
    await flight(2).land();
    await Promise.all(answers);
  });

  test("three hundred thousand items at once are all answered", async () => {
    const coalescer = createCoalescer<number, number>({
      flush: async (items) => items.map((item) => item + 1),
      maxItems: 50_000,
    });
    const answers = await Promise.all(Array.from({ length: 300_000 }, (_, i) => coalescer.submit(i)));
    expect(answers.every((answer, i) => answer === i + 1)).toBe(true);
  });
});

describe("C3: failures", () => {
  test("[ARCH-5-E4] a flush that fails is run again item by item: the bad one fails alone", async () => {
    const runs: (readonly string[])[] = [];
    const coalescer = createCoalescer<string, string>({
      flush: async (items) => {
        runs.push(items);
        if (items.includes("bad")) throw boom();
        return items.map((item) => `done:${item}`);
      },
    });
    const outcomes = await Promise.allSettled(["a", "bad", "b"].map((item) => coalescer.submit(item)));
    expect(outcomes).toMatchObject([{ value: "done:a" }, { reason: { message: "boom" } }, { value: "done:b" }]);
    expect(runs).toEqual([["a", "bad", "b"], ["a"], ["bad"], ["b"]]);
    expect(coalescer.stats()).toMatchObject({ rescued: 3, flushes: 1, items: 3 });
  });

  test("a lone item that fails is not tried twice", async () => {
    let runs = 0;
    const coalescer = createCoalescer<string, string>({
      flush: () => {
        runs++;
        throw boom();
      },
    });
    await expect(coalescer.submit("a")).rejects.toThrow("boom");
    expect(runs).toBe(1);
  });

  test("a lone item whose answer was lost is asked for once more: it may have happened", async () => {
    let runs = 0;
    const coalescer = createCoalescer<string, string>({
      flush: async (items) => {
        runs++;
        if (runs === 1) throw boom("storage_error");
        return items.map((item) => `found:${item}`);
      },
    });
    expect(await coalescer.submit("a")).toBe("found:a");
    expect(runs).toBe(2);
  });

  test("[ARCH-5-E4] a database that is away is asked once more, not once per item", async () => {
    let runs = 0;
    const coalescer = createCoalescer<string, string>({
      flush: async () => {
        runs++;
        throw boom("storage_error");
      },
    });
    const outcomes = await Promise.allSettled(["a", "b", "c", "d"].map((item) => coalescer.submit(item)));
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(runs).toBe(2);
  });
});

describe("idle", () => {
  test("is at once when there is nothing, and otherwise when the last flight has landed", async () => {
    const { coalescer, flight, tick } = createTower({ inFlight: 1 });
    await coalescer.idle();
    let idle = false;
    const answers = [coalescer.submit("a")];
    const waiting = coalescer.idle().then(() => {
      idle = true;
    });
    await tick();
    answers.push(coalescer.submit("b"));
    await flight(0).land();
    expect(idle).toBe(false);
    await flight(1).land();
    await waiting;
    expect(idle).toBe(true);
    await Promise.all(answers);
  });

  test("also after a failure", async () => {
    const { coalescer, flight, tick } = createTower();
    const answer = coalescer.submit("a");
    const failed = expect(answer).rejects.toThrow("boom");
    await tick();
    await flight(0).crash(boom());
    await failed;
    await coalescer.idle();
  });
});

describe("C5: one order of locks", () => {
  test("[ENG-lock-order] a flush leaves in the order of its keys, and everybody gets their own answer", async () => {
    const { coalescer, flight, tick, landed } = createTower({ keyOf: (item) => item });
    const answers = ["c", "a", "b"].map((item) => coalescer.submit(item));
    await tick();
    expect(landed()).toEqual([["a", "b", "c"]]);
    await flight(0).land();
    expect(await Promise.all(answers)).toEqual(["done:c", "done:a", "done:b"]);
  });
});

describe("C3: trouble of one item", () => {
  test.each(["40P01", "40001", "55P03", "57014"])(
    "[ARCH-5-E4] a row that stays locked (%s) fails its own item, not those behind it",
    async (sqlstate) => {
      const locked = new ToolplaneError("storage_error", "locked", { detail: { sqlstate } });
      const { coalescer, flight, tick } = createTower();
      const answers = ["a", "b", "c"].map((item) => coalescer.submit(item));
      const outcomes = Promise.allSettled(answers);
      await tick();
      await flight(0).crash(locked);
      await flight(1).crash(locked);
      await flight(2).land();
      await flight(3).land();
      expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    },
  );
});
