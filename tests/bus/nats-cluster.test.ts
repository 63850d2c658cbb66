// The bus on a cluster of three; what happens when its leaders die is a long test.

import { createNatsBus, openBareNats, openNatsLink } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { createCollector, eventually, startNatsCluster } from "@toolplane/testkit";
import { expect, test } from "vitest";

test("[ARCH-6-8] three copies of each stream, and one node less changes nothing", async () => {
  await using cluster = await startNatsCluster();
  const link = await openNatsLink({ url: cluster.url, name: "test" }, { log: silentLog });
  const bus = createNatsBus({ link, log: silentLog, bury: () => Promise.resolve(), replicas: 3 });
  const came = createCollector<string>();
  const desk = { durable: "tool_desk", pattern: "cg.v1r4.*.*.cmd.tool.desk.>" };
  await eventually(() =>
    bus.ensureDurables([desk]).then(
      () => true,
      () => false,
    ),
  );
  await bus.consume({ ...desk, category: "cmd", batch: 4, maxInFlight: 4 }, ({ payload }) => came.push(payload));
  const publishSurely = (payload: string): Promise<boolean> =>
    eventually(() =>
      bus.publish([{ subject: "cg.v1r4.p1.public.cmd.tool.desk.run", headers: {}, payload, messageId: payload }]).then(
        () => true,
        () => false,
      ),
    );
  await publishSurely("before");
  await came.until(1);
  const leader = await cluster.leaderOf("cg_cmd_v1r4");
  const bare = await openBareNats({ url: leader.url, name: "operator" }, { log: silentLog });
  const info = await bare.ask("$JS.API.STREAM.INFO.cg_cmd_v1r4", "", { timeoutMs: 5_000 });
  expect(JSON.parse(info.payload)).toMatchObject({ config: { num_replicas: 3, retention: "limits" } });
  await bare.close();
  await cluster.nodes.find((node) => node !== leader)?.kill();
  await publishSurely("after");
  await came.until(2);
  expect(new Set(came.items)).toEqual(new Set(["before", "after"]));
  await bus.close();
  await link.close();
});
