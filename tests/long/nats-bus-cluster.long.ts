// The bus on a cluster of three whose nodes die one after the other, the leader among them: nothing that was published is
// lost, and no command is settled twice. A publish that was not confirmed is tried again; NATS may have stored both, when the node that knew the
// message's id died. Such a command may be settled twice, and the lease of its call decides.

import { createNatsBus, openNatsLink } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { createCollector, eventually, startNatsCluster, type TestNatsCluster } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const MESSAGES = 6_000;
const IN_FLIGHT = 32;
const ROUNDS = 6;
const PATTERN = "cg.v1r4.*.*.cmd.tool.desk.>";
const STREAM = "cg_cmd_v1r4";

let cluster: TestNatsCluster;
beforeAll(async () => {
  cluster = await startNatsCluster();
});
afterAll(() => cluster.stop());

const open = async () => {
  const lost = createCollector<string>();
  const link = await openNatsLink({ url: cluster.url, name: "test" }, { log: silentLog });
  const bury = (message: { readonly payload: string }): Promise<void> => Promise.resolve(lost.push(message.payload));
  const bus = createNatsBus({ link, log: silentLog, bury, replicas: 3 });
  return {
    bus,
    lost,
    async close() {
      await bus.close({ drainMs: 1_000 });
      await link.close();
    },
  };
};

test("[ARCH-6-8] nodes of a cluster are killed and come back, empty too: nothing is lost, what was published once is settled once", async () => {
  const [sender, ...receivers] = await Promise.all([open(), open(), open()]);
  await eventually(() =>
    sender.bus.ensureDurables([{ durable: "tool_desk", pattern: PATTERN }]).then(
      () => true,
      () => false,
    ),
  );
  const deliveries = new Map<string, number>();
  const settled = new Map<string, number>();
  const count = (counts: Map<string, number>, payload: string): void => {
    counts.set(payload, (counts.get(payload) ?? 0) + 1);
  };
  const repeated = (counts: Map<string, number>): readonly string[] =>
    [...counts].flatMap(([payload, times]) => (times > 1 ? [payload] : []));
  for (const { bus } of receivers)
    await bus.consume(
      {
        durable: "tool_desk",
        pattern: PATTERN,
        category: "cmd",
        batch: 16,
        maxInFlight: 16,
        ackWaitMs: 5_000,
        maxDeliver: 1_000,
      },
      async (delivery) => {
        count(deliveries, delivery.payload);
        await delivery.ack();
        count(settled, delivery.payload);
      },
    );

  let next = 0;
  let rejected = 0;
  const unsure = new Set<string>();
  const send = async (): Promise<void> => {
    while (next < MESSAGES) {
      const payload = String(next++);
      const message = { subject: "cg.v1r4.p1.public.cmd.tool.desk.run", headers: {}, payload, messageId: payload };
      await eventually(() =>
        sender.bus.publish([message]).then(
          () => true,
          () => {
            rejected++;
            unsure.add(payload);
            return false;
          },
        ),
      );
    }
  };
  const sending = Promise.all(Array.from({ length: IN_FLIGHT }, send));

  for (let round = 0; round < ROUNDS; round++) {
    await eventually(() => deliveries.size >= ((round + 1) * MESSAGES) / (ROUNDS + 2));
    // The leader every other time; of the others one that comes back with an empty store.
    const leader = await cluster.leaderOf(STREAM);
    const victim = round % 2 === 0 ? leader : cluster.nodes.find((node) => node !== leader);
    if (round % 2 === 0) {
      await victim?.kill();
      await victim?.restart();
    } else await victim?.wipe();
    await cluster.ready();
  }
  await sending;
  await eventually(() => deliveries.size === MESSAGES);
  const facts = `${rejected} publishes tried again, ${repeated(deliveries).length} commands delivered again, ${settled.size} settled, ${repeated(settled).length} of them twice`;
  process.stdout.write(`${MESSAGES} commands, ${ROUNDS} nodes killed: ${facts}\n`);
  expect(receivers.flatMap(({ lost }) => lost.items)).toEqual([]);
  await eventually(() => receivers.every(({ bus }) => bus.stats().inFlight === 0));
  expect(repeated(settled).filter((payload) => !unsure.has(payload))).toEqual([]);
  // A durable whose leader is being chosen answers nobody; whoever asks asks again.
  const left = await eventually(() =>
    sender.bus
      .commands("tool_desk")
      .fetch({ max: 10, waitMs: 6_000 })
      .catch(() => undefined),
  );
  expect(left).toEqual([]);
  await Promise.all([sender, ...receivers].map(({ close }) => close()));
});
