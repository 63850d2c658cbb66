// A NATS server that hangs: it keeps its connections and says nothing. What is asked of the bus ends by its own timeouts.

import { performance } from "node:perf_hooks";
import { createCollector, eventually } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openNatsHarness } from "../bus/nats-harness.ts";

const subject = "cg.v1r4.p1.public.cmd.tool.desk.run";
const desk = { durable: "tool_desk", pattern: "cg.v1r4.*.*.cmd.tool.desk.>", category: "cmd" } as const;

test("a hung server fails publishing in bounded time, holds up no shutdown, and is gone on with when it wakes", async () => {
  const harness = await openNatsHarness();
  const [one, other] = await Promise.all([harness.start(), harness.start()]);
  const came = createCollector<string>();
  await one.bus.consume(desk, ({ payload }) => came.push(payload));
  await other.bus.consume(desk, ({ payload }) => came.push(payload));
  await one.bus.publish([{ subject, headers: {}, payload: "before" }]);
  await came.until(1);
  process.kill(harness.server.pid, "SIGSTOP");
  const timed = async (work: Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work.catch(() => undefined);
    return performance.now() - began;
  };
  // The signal takes a moment; messages that were still taken do not count.
  const refused = await eventually(async () => {
    const began = performance.now();
    const error = await one.bus.publish([{ subject, headers: {}, payload: "hung" }]).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    return error === undefined ? undefined : { error, ms: performance.now() - began };
  });
  expect(refused?.error).toMatchObject({ code: "upstream_unavailable" });
  expect(refused?.ms).toBeLessThan(8_000);
  expect(await timed(one.link.request({ subject: "a.b", headers: {}, payload: "" }, { timeoutMs: 200 }))).toBeLessThan(
    2_000,
  );
  expect(await timed(one.bus.close({ drainMs: 0 }))).toBeLessThan(10_000);
  expect(await timed(one.link.close())).toBeLessThan(10_000);
  process.kill(harness.server.pid, "SIGCONT");
  await eventually(() =>
    other.bus.publish([{ subject, headers: {}, payload: "after", messageId: "after" }]).then(
      () => true,
      () => false,
    ),
  );
  await eventually(() => came.items.includes("after"));
  await harness.close();
});
