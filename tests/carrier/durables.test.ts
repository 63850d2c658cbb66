// What services on a carrier fetch from exists as soon as there is a tool for it, and again when the carrier lost it.

import { type Faults, noFaults, silentLog } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { createMemoryCarrier, eventually, startTestEngine, toolUpload } from "@toolplane/testkit";
import { expect, test } from "vitest";

const PMO = ["pmo_service_cmd_v1r4", "cg.v1r4.*.*.cmd.sys.pmo.>"];
const durableOf = (target: string) => [`tool_${target}`, `cg.v1r4.*.*.cmd.tool.${target}.>`];

test("[API-5-2] every registered target of every project has its durable, and the project manager has one", async () => {
  const carrier = createMemoryCarrier();
  await using t = await startTestEngine({ carrier });
  await eventually(() => carrier.durables.size === 2);
  expect([...carrier.durables]).toEqual([PMO, durableOf("test")]);
  await t.engine.projects.createProject({ project_id: "other", title: "Other", bootstrap: false }, "sys.test");
  await t.engine.tools.upsertTool("other", toolUpload({ name: "draw", target: "canvas" }));
  await eventually(() => carrier.durables.has("tool_canvas"));
  // Only what is new was asked for.
  expect(carrier.ensured.at(-1)).toEqual([{ durable: "tool_canvas", pattern: durableOf("canvas")[1] }]);
  expect((await t.engine.stats()).carrier?.durables).toBe(3);
});

test("[API-5-2] a tool that another process registers has its durable too", async () => {
  const carrier = createMemoryCarrier();
  await using t = await startTestEngine({ carrier });
  const other = await t.another({ carrier: createMemoryCarrier() });
  await other.tools.upsertTool(t.projectId, toolUpload({ name: "draw", target: "canvas" }));
  await eventually(() => carrier.durables.has("tool_canvas"));
});

test("[API-5-2] a carrier that was away and lost everything has all of them again", async () => {
  const carrier = createMemoryCarrier();
  await using t = await startTestEngine({ carrier });
  await eventually(() => carrier.durables.size === 2);
  carrier.wipe();
  carrier.away(true);
  await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  await eventually(async () => ((await t.engine.stats()).carrier?.relay.outages ?? 0) > 0);
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
  await eventually(() => hits >= 2 && carrier.durables.size === 2);
});

test("[API-5-2] a target without a tool loses its durable when its last call has ended", async () => {
  const carrier = createMemoryCarrier({ leftoversEveryMs: 0 });
  await using t = await startTestEngine({ carrier });
  const { projectId } = t;
  for (const target of ["busy", "idle"])
    await t.engine.tools.upsertTool(projectId, toolUpload({ name: target, target }));
  await eventually(() => carrier.durables.has("tool_busy") && carrier.durables.has("tool_idle"));
  const { toolCallId } = await t.engine.calls.dispatch({ projectId, toolName: "busy", arguments: {} });
  for (const name of ["busy", "idle"]) await t.engine.tools.deleteTool(projectId, name);
  // A process that starts looks at all of them.
  await t.another({ carrier });
  await eventually(() => !carrier.durables.has("tool_idle"));
  expect([...carrier.durables.keys()]).toEqual([PMO[0], "tool_test", "tool_busy"]);
  await t.engine.calls.cancel({ projectId, toolCallId });
  await t.another({ carrier });
  await eventually(() => !carrier.durables.has("tool_busy"));
  await t.engine.tools.upsertTool(projectId, toolUpload({ name: "idle", target: "idle" }));
  await eventually(() => carrier.durables.has("tool_idle"));
});

test.each([
  ["who has just come to a carrier drops nothing there: it may be another plane's", {}],
  ["who may not list durables makes them all the same", { leftoversEveryMs: 0, mayDrop: false }],
])("[API-5-2] %s", async (_, given) => {
  const carrier = createMemoryCarrier(given);
  const [theirs, pattern] = durableOf("theirs") as [string, string];
  await carrier.open({ bury: async () => {}, log: silentLog }).ensureDurables([{ durable: theirs, pattern }]);
  await using t = await startTestEngine({ carrier });
  await eventually(() => carrier.durables.has("tool_test"));
  // By then the first look is over.
  await t.engine.tools.upsertTool(t.projectId, toolUpload({ name: "draw", target: "canvas" }));
  await eventually(() => carrier.durables.has("tool_canvas"));
  expect([...carrier.durables.keys()]).toContain(theirs);
});
