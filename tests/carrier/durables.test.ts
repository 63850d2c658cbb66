// What services on a carrier fetch from exists as soon as one attaches, and again when the carrier lost it; what no service
// uses any more is dropped.

import { silentLog } from "@toolplane/engine";
import { type Faults, noFaults } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import {
  countStatements,
  createMemoryCarrier,
  eventually,
  startTestEngine,
  type TestEngine,
  toolUpload,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

const PMO = ["pmo_service_cmd_v1r4", "cg.v1r4.*.*.cmd.sys.pmo.>"];
const durableOf = (project: string, target: string) =>
  [`tool_${target}__${project}`, `cg.v1r4.${project}.*.cmd.tool.${target}.>`] as const;

const attach = (t: TestEngine, target: string, projectId = t.projectId) => t.engine.attach({ projectId, target });

test("[API-5-2] [NATS-SEC-1] a pair that a service attaches to has a durable of its own project, and no other has one", async () => {
  const carrier = createMemoryCarrier();
  await using t = await startTestEngine({ carrier });
  await eventually(() => carrier.durables.size === 1);
  await t.engine.projects.createProject({ project_id: "other", title: "Other", bootstrap: false }, "sys.test");
  await t.engine.tools.upsertTool("other", toolUpload({ name: "draw", target: "canvas" }));
  expect(await attach(t, "canvas", "other")).toBe("tool_canvas__other");
  expect([...carrier.durables]).toEqual([PMO, [...durableOf("other", "canvas")]]);
  await eventually(() => t.engine.carried?.stats().durables === 2);
  await expect(attach(t, "canvas", "nowhere")).rejects.toMatchObject({ code: "not_found" });
  await expect(attach(t, "a__b")).rejects.toMatchObject({
    code: "protocol_violation",
    message: expect.stringContaining("cannot be served over NATS"),
  });
});

test("[API-5-2] a pair that is attached while the plane looks at its durables is not forgotten by that look", async () => {
  const carrier = createMemoryCarrier();
  const looking = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let isArmed = false;
  const faults: Faults = {
    async at(point) {
      if (point !== "keep:after-ensure" || !isArmed) return noFaults.at(point);
      isArmed = false;
      looking.resolve();
      await goOn.promise;
    },
  };
  await using t = await startTestEngine({ carrier, faults });
  await eventually(() => t.engine.carried?.stats().durables === 1);
  isArmed = true;
  // A new pair is a reason to look again.
  await attach(t, "paper");
  await looking.promise;
  await attach(t, "canvas");
  goOn.resolve();
  // The next look, which would find the pair, has to ask the database first.
  await new Promise((resolve) => setImmediate(resolve));
  expect(t.engine.carried?.stats().durables).toBe(3);
});

test("[API-5-2] services that attach at the same time share statements, and one of them that cannot attach fails alone", async () => {
  const carrier = createMemoryCarrier();
  await using t = await startTestEngine({ carrier });
  await eventually(() => carrier.durables.size === 1);
  const counted = countStatements([t.engine]);
  const [missing, ...durables] = await Promise.allSettled([
    attach(t, "canvas", "nowhere"),
    ...Array.from({ length: 200 }, (_, index) => attach(t, index % 2 === 0 ? "canvas" : "paper")),
  ]);
  expect(missing).toMatchObject({ status: "rejected", reason: { code: "not_found" } });
  expect(new Set(durables.map((one) => (one.status === "fulfilled" ? one.value : one.reason)))).toEqual(
    new Set([durableOf(t.projectId, "canvas")[0], durableOf(t.projectId, "paper")[0]]),
  );
  expect(counted.names().filter((name) => name === "carrier.attach").length).toBeLessThan(10);
});

test("[API-5-2] a tool of a plain service has its durable when it is registered, whoever registers it, and loses it", async () => {
  const carrier = createMemoryCarrier({ leftoversEveryMs: 0 });
  await using t = await startTestEngine({ carrier });
  const other = await t.another({ carrier: createMemoryCarrier() });
  const upload = toolUpload({ name: "draw", target: "canvas", options: { service: "plain" } });
  await other.tools.upsertTool(t.projectId, upload);
  const [durable] = durableOf(t.projectId, "canvas");
  await eventually(() => carrier.durables.has(durable));
  await other.tools.deleteTool(t.projectId, "draw");
  await t.another({ carrier });
  await eventually(() => !carrier.durables.has(durable));
});

test("[API-5-2] a carrier that was away and lost everything has all of them again", async () => {
  const carrier = createMemoryCarrier();
  await using t = await startTestEngine({ carrier });
  await attach(t, "test");
  await eventually(() => carrier.durables.size === 2);
  carrier.wipe();
  carrier.away(true);
  await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  await eventually(() => (t.engine.carried?.stats().relay.outages ?? 0) > 0);
  carrier.away(false);
  await eventually(() => carrier.durables.size === 2);
});

test("[API-5-2] a carrier that is away at the start is asked until it is there; an error after that repeats what was done", async () => {
  const carrier = createMemoryCarrier();
  carrier.away(true);
  let hits = 0;
  const faults: Faults = {
    at: (point) => {
      if (point !== "keep:after-ensure") return noFaults.at(point);
      hits++;
      if (hits === 1) throw new ToolplaneError("storage_error", "fault");
    },
  };
  await using t = await startTestEngine({ carrier, faults });
  await eventually(() => t.engine.definitions !== undefined);
  carrier.away(false);
  await eventually(() => hits >= 2 && carrier.durables.size === 1);
});

test("[API-5-2] a pair that no service has named for long loses its durable when its last call has ended", async () => {
  const carrier = createMemoryCarrier({ leftoversEveryMs: 0, detachAfterSeconds: 0 });
  await using t = await startTestEngine({ carrier: createMemoryCarrier() });
  const { projectId } = t;
  for (const target of ["busy", "idle"]) {
    await t.engine.tools.upsertTool(projectId, toolUpload({ name: target, target }));
    await attach(t, target);
    await carrier
      .open({ bury: async () => {}, log: silentLog })
      .ensureDurables([{ durable: durableOf(projectId, target)[0], pattern: durableOf(projectId, target)[1] }]);
  }
  const { toolCallId } = await t.engine.calls.dispatch({ projectId, toolName: "busy", arguments: {} });
  // A process that starts looks at all of them.
  await t.another({ carrier });
  await eventually(() => !carrier.durables.has(durableOf(projectId, "idle")[0]));
  expect([...carrier.durables.keys()].sort()).toEqual([PMO[0], durableOf(projectId, "busy")[0]]);
  await t.engine.calls.cancel({ projectId, toolCallId });
  await t.another({ carrier });
  await eventually(() => !carrier.durables.has(durableOf(projectId, "busy")[0]));
});

test("[NATS-SEC-1] the durable that an earlier version kept for all projects is dropped before ours are made", async () => {
  const carrier = createMemoryCarrier();
  const old = { durable: "tool_test", pattern: "cg.v1r4.*.*.cmd.tool.test.>" };
  await carrier.open({ bury: async () => {}, log: silentLog }).ensureDurables([old]);
  await using t = await startTestEngine({ carrier });
  await eventually(() => carrier.durables.has("pmo_service_cmd_v1r4"));
  expect(carrier.durables.has("tool_test")).toBe(false);
  expect(await attach(t, "test")).toBe(durableOf(t.projectId, "test")[0]);
});

test("[API-5-2] an engine that may not list durables makes them all the same", async () => {
  const carrier = createMemoryCarrier({ leftoversEveryMs: 0, mayDrop: false });
  await using t = await startTestEngine({ carrier });
  await attach(t, "canvas");
  await eventually(() => carrier.durables.has(durableOf(t.projectId, "canvas")[0]));
});

test("[ARCH-6-5] commands nobody fetches are thrown away, and published again when a service attaches", async () => {
  const carrier = createMemoryCarrier();
  await using t = await startTestEngine({ carrier, watchdog: true });
  const dispatch = () => t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  await dispatch();
  const { toolCallId } = await dispatch();
  await eventually(() => carrier.commands.length === 2);
  // One is claimed in the database: what lies on the carrier for this pair is of no use to anybody.
  await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "here", max: 1 });
  await eventually(() => carrier.waiting.length === 0);
  expect(t.engine.carried?.stats().answered).toMatchObject({ acknowledged: 0, returned: 0 });
  await attach(t, "test");
  await eventually(() => carrier.waiting.length === 1);
  expect(carrier.waiting[0]?.headers["CG-Tool-Call-Id"]).toBe(toolCallId);
});
