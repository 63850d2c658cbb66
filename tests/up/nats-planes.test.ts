// Two planes on one NATS: subjects, durables and the gateway have the same names in both, so there is one.

import { openBareNats } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { expect, test, vi } from "vitest";
import { openPlane } from "./plane.ts";

vi.setConfig({ testTimeout: 120_000 });

test("[UP-9-11] a plane does not start on a NATS where a plane with another database is; its own processes do", async () => {
  await using plane = await openPlane("nats");
  await using other = await openPlane("postgres");
  const first = plane.up("api");
  await first.ready();
  const foreign = other.up("api", "--nats-url", plane.nats?.url ?? "");
  const own = plane.up("pmo");
  expect(await foreign.exited).toBe(1);
  const line = foreign.stderr().trimEnd().split("\n").at(-1) ?? "";
  expect(line).toContain("another plane, with another database, is on this NATS already: process ");
  expect(line).toContain("give each plane a NATS server or account of its own");
  await own.ready();
});

test("[NATS-SEC-2] a plane that is refused has touched nothing on NATS; one whose plane is gone takes its durables over", async () => {
  await using plane = await openPlane("nats");
  await using other = await openPlane("postgres");
  const url = plane.nats?.url ?? "";
  const bare = await openBareNats({ url, name: "operator" }, { log: silentLog });
  const durables = async (): Promise<unknown> => {
    const { payload } = await bare.ask("$JS.API.CONSUMER.LIST.cg_cmd_v1r4", "", { timeoutMs: 5_000 });
    const { consumers } = JSON.parse(payload) as { consumers: { name: string; config: unknown; created: string }[] };
    return consumers.map(({ name, config, created }) => ({ name, config, created }));
  };
  const first = plane.up("api");
  await first.ready();
  const before = await durables();
  expect(before).toEqual([expect.objectContaining({ name: "pmo_service_cmd_v1r4" })]);
  expect(await other.up("api", "--nats-url", url).exited).toBe(1);
  expect(await durables()).toEqual(before);
  await first.stop();
  const second = other.up("api", "--nats-url", url);
  await second.ready();
  expect(second.stderr()).toContain("durables of a plane that no longer runs were taken over");
  expect(await durables()).not.toEqual(before);
  await bare.close();
});
