// Calls are claimed in the database while their commands lie on the carrier: those are taken back, and only those.

import { CARRIER_FAULT_POINTS, type FaultPoint, type Faults } from "@toolplane/engine/internal";
import { HEADERS, ToolplaneError } from "@toolplane/protocol";
import { createMemoryCarrier, eventually, startTestEngine, type TestEngine } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";

/** An engine whose target is also served over the carrier. */
const start = async (options: Parameters<typeof startTestEngine>[0]): Promise<TestEngine> => {
  const t = await startTestEngine(options);
  await t.engine.attach({ projectId: t.projectId, target: "test" });
  return t;
};

const ask = async (t: TestEngine, count: number): Promise<readonly string[]> =>
  (
    await Promise.all(
      Array.from({ length: count }, () =>
        t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} }),
      ),
    )
  ).map(({ toolCallId }) => toolCallId);

const claim = (t: TestEngine, max: number, engine = t.engine) =>
  engine.calls.claim({ projectId: t.projectId, target: "test", holder: "here", max });

const idsOf = (carrier: ReturnType<typeof createMemoryCarrier>): string[] =>
  carrier.waiting.map(({ headers }) => headers[HEADERS.toolCallId] ?? "").sort();

test("[ARCH-6-5] commands of claimed calls are acknowledged, those of queued ones stay, also in other hands", async () => {
  const carrier = createMemoryCarrier();
  await using t = await start({ carrier });
  await ask(t, 40);
  await eventually(() => carrier.waiting.length === 40);
  const taken = (await claim(t, 25)).map(({ facts }) => facts.toolCallId);
  await eventually(() => carrier.waiting.length === 15);
  expect(idsOf(carrier).some((id) => taken.includes(id))).toBe(false);
  const figures = t.engine.carried?.stats().answered;
  expect(figures?.acknowledged).toBe(25);
  // Whatever was looked at and still waits can be taken by a service at once.
  await eventually(async () => (await claim(t, 15)).length === 15);
  await eventually(() => carrier.waiting.length === 0);
});

test("[ARCH-6-5] a call that was claimed before its command had left: the command is taken back when it has", async () => {
  const carrier = createMemoryCarrier();
  await using t = await start({ carrier });
  await eventually(() => carrier.durables.size === 2);
  carrier.away(true);
  await ask(t, 3);
  expect(await claim(t, 3)).toHaveLength(3);
  expect(carrier.commands).toEqual([]);
  carrier.away(false);
  await eventually(() => carrier.commands.length === 3);
  await eventually(() => carrier.waiting.length === 0);
});

test("[ARCH-6-5] the process that relays need not be the one that claims", async () => {
  const carrier = createMemoryCarrier();
  await using t = await start({ carrier });
  const other = await t.another();
  await ask(t, 20);
  const shares = await Promise.all([claim(t, 10), claim(t, 10, other)]);
  expect(shares.flat()).toHaveLength(20);
  await eventually(() => carrier.commands.length === 20);
  await eventually(() => carrier.waiting.length === 0);
});

test("[ARCH-6-5] a command of nobody we know is never taken, and does not hide what lies behind it", async () => {
  const carrier = createMemoryCarrier();
  await using t = await start({ carrier });
  const [first] = await ask(t, 1);
  await eventually(() => carrier.waiting.length === 1);
  const [message] = carrier.waiting;
  const foreign = Array.from({ length: 300 }, (_, n) => ({
    ...message,
    subject: "cg.v1r4.elsewhere.public.cmd.tool.test.safe",
    headers: { ...message?.headers, [HEADERS.toolCallId]: `call_${n}` },
    payload: message?.payload ?? "",
    messageId: `foreign-${n}`,
  }));
  await carrier.open({ bury: async () => {}, log: { info() {}, warn() {}, error() {} } }).publish(foreign);
  const [second] = await ask(t, 1);
  await eventually(() => carrier.waiting.length === 302);
  await claim(t, 2);
  await eventually(() => carrier.waiting.length === 300);
  expect(idsOf(carrier)).not.toContain(first);
  expect(idsOf(carrier)).not.toContain(second);
});

test("[ARCH-6-5] a plain service's command is left to it while its call is open", async () => {
  const carrier = createMemoryCarrier();
  const plain = { name: "plain", options: { service: "plain" } };
  await using t = await start({ carrier, tools: [{ name: "safe" }, plain] });
  await ask(t, 1);
  const { toolCallId } = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "plain", arguments: {} });
  await eventually(() => carrier.waiting.length === 2);
  const [call] = await claim(t, 1);
  expect(call?.facts.toolName).toBe("safe");
  await eventually(() => carrier.waiting.length === 1);
  expect(idsOf(carrier)).toEqual([toolCallId]);
});

describe("an error", () => {
  test.each(CARRIER_FAULT_POINTS.filter((point) => point.startsWith("sweep:")))(
    "[ARCH-6-5] at %s once: everything is taken back all the same",
    async (point: FaultPoint) => {
      let hits = 0;
      const faults: Faults = {
        at: (reached) => {
          if (reached !== point) return;
          hits++;
          if (hits === 1) throw new ToolplaneError("storage_error", "fault");
        },
      };
      const carrier = createMemoryCarrier();
      await using t = await start({ carrier, faults });
      await ask(t, 5);
      await eventually(() => carrier.waiting.length === 5);
      await claim(t, 5);
      await eventually(() => carrier.waiting.length === 0);
      expect(hits).toBeGreaterThan(0);
    },
  );
});
