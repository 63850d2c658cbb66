import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../ports/clock.ts";
import { createThreads, type Threads } from "./threads.ts";

let threads: Threads;
afterEach(() => threads.close());

const work = (name: string, input: unknown = null, tenant = "a") =>
  threads.run({ tenant, what: "the work", module: new URL(`../../test/${name}.ts`, import.meta.url), input });

describe("threads", () => {
  test("[STALL-4] work runs beside the event loop, and its errors come back with their codes", async () => {
    threads = createThreads({ clock: systemClock });
    expect(await work("thread-work", { echo: [1, "two"] })).toEqual([1, "two"]);
    await expect(work("thread-work", { refuse: "conflict" })).rejects.toMatchObject({ code: "conflict" });
    await expect(work("thread-work", { crash: true })).rejects.toMatchObject({ code: "internal_error" });
    expect(await work("thread-work", { echo: 3 })).toBe(3);
  });

  test("[STALL-4] work without end is cut off with a reason; another tenant's goes on meanwhile", async () => {
    threads = createThreads({ clock: systemClock, limitMs: 1_500 });
    const endless = work("thread-work", { endless: true }, "a");
    const refused = expect(endless).rejects.toMatchObject({
      code: "bad_request",
      message: "the work takes longer than 1.5 s: make it smaller or simpler",
    });
    expect(await work("thread-work", { echo: 1 }, "b")).toBe(1);
    expect(threads.stats()).toMatchObject({ cutOff: 0 });
    await refused;
    expect(await work("thread-work", { echo: 2 }, "a")).toBe(2);
    expect(threads.stats()).toMatchObject({ cutOff: 1 });
  });

  test("[STALL-4] a tenant with too much open work is told to come later", async () => {
    threads = createThreads({ clock: systemClock, maxWaiting: 2 });
    const some = [1, 2, 3].map((echo) => work("thread-work", { echo }));
    const outcomes = await Promise.allSettled(some);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(outcomes[2]).toMatchObject({ reason: { code: "rate_limited" } });
    expect(threads.stats()).toMatchObject({ turnedAway: 1 });
  });

  test("[STALL-4] a thread that cannot be ended counts, others run beside it, and closing does not wait for it", async () => {
    threads = createThreads({ clock: systemClock, limitMs: 3_000, closeMs: 100 });
    const stuck = work("thread-work", { stuckSeconds: 12 }, "a");
    await expect(stuck).rejects.toMatchObject({ code: "bad_request" });
    expect(await work("thread-work", { echo: 1 }, "a")).toBe(1);
    expect(threads.stats()).toMatchObject({ ending: 1 });
    await threads.close();
    // The other thread may still be ending too, after so short a wait.
    expect(threads.stats()).toMatchObject({ threads: 0 });
    expect(threads.stats().ending).toBeGreaterThan(0);
  });

  test("closing ends what waits and what runs", async () => {
    threads = createThreads({ clock: systemClock });
    const endless = expect(work("thread-work", { endless: true })).rejects.toMatchObject({ code: "canceled" });
    await threads.close();
    await endless;
    await expect(work("thread-work", { echo: 1 })).rejects.toMatchObject({ code: "canceled" });
  });
});
