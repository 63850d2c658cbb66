import { openNatsLink } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { eventually, startNats } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { BUNDLED_TARGET } from "../bundled/bundled-tools.ts";
import { openBus } from "./open-bus.ts";

test("[UP-9-7] services that wait on NATS can be counted, without asking for much when there is none", async () => {
  await using server = await startNats();
  const nats = { url: server.url, name: "test" };
  const bus = await openBus({ nats, replicas: undefined, republishSeconds: undefined, log: silentLog });
  expect([await bus.waiting(BUNDLED_TARGET), await bus.waiting("nobody"), await bus.waiting("no token")]).toEqual([
    0,
    undefined,
    undefined,
  ]);
  const service = await openNatsLink(nats, { log: silentLog });
  const stop = new AbortController();
  const fetching = service.commands(`tool_${BUNDLED_TARGET}`).fetch({ max: 1, waitMs: 30_000, signal: stop.signal });
  await eventually(async () => (await bus.waiting(BUNDLED_TARGET)) === 1);
  stop.abort();
  await fetching;
  await service.close();
  await server.kill();
  expect(await bus.waiting(BUNDLED_TARGET)).toBeUndefined();
  await bus.close();
});
