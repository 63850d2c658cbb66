import type { JsonObject } from "@toolplane/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld } from "../../test/registry-world.ts";
import { insertSampleCall } from "../../test/sample-calls.ts";
import { sampleTool } from "../../test/sample-tools.ts";

let world: RegistryWorld;
const A = "proj_a";

beforeAll(async () => {
  world = await openRegistryWorld();
  await world.projects.createProject({ project_id: A, title: "t", bootstrap: false }, "me");
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.doorbell.rings.length = 0;
});

const versionsOf = async (toolName: string): Promise<readonly number[]> =>
  (await world.tools.listToolVersions(A, toolName)).items.map(({ version }) => version);

describe("versions that wait", () => {
  const service = { source: "service:text" };
  const guarded = (name: string, options: JsonObject) =>
    world.tools.upsertTool(A, sampleTool(name, { options: { approval: "required", ...options } }));

  test("[SEC-guard-10] of those that were never in force the newest twenty stay, and the newest is accepted", async () => {
    await guarded("busy", {});
    for (let n = 1; n <= 25; n += 1) {
      const upload = sampleTool("busy", { description: `try ${n}`, options: { approval: "never" } });
      await world.tools.upsertTool(A, upload, service);
    }
    expect(await versionsOf("busy")).toEqual([...Array.from({ length: 20 }, (_, at) => 26 - at), 1]);
    expect(await world.tools.acceptTool(A, "busy", 26)).toMatchObject({ version: 26 });
  });

  test("[SEC-guard-11] a service that takes no leases gives up a person's pin, and the version says so", async () => {
    await guarded("pinned", { pin: "strict", approval: "never" });
    const upload = sampleTool("pinned", {
      target_subject: "cg.v1r3.{project_id}.{channel_id}.cmd.tool.text.pinned",
    });
    expect(await world.tools.upsertTool(A, upload, service)).toMatchObject({ outcome: "pending" });
    const accepted = await world.tools.acceptTool(A, "pinned", 2);
    expect(accepted.accepted.weakens).toContain("options.pin");
    expect(accepted.definition.options).not.toHaveProperty("pin");
  });
});

describe("pausing", () => {
  const stateOf = async (toolCallId: string) =>
    (
      await world.ask<{ out: boolean; later: boolean; due: boolean; status: string }>(
        `select status, available_at = 'infinity' as out, available_at > now() + interval '1 minute' as later,
                due_at <= now() as due
           from state.calls where tool_call_id = $1`,
        [toolCallId],
      )
    )[0];

  test("[API-4-E1] queued calls leave the queue and come back at their time; running and other tools' calls are left alone", async () => {
    await world.tools.upsertTools(A, [sampleTool("stop_me"), sampleTool("go_on")]);
    const call = (toolCallId: string, more: object = {}) =>
      insertSampleCall(world, { projectId: A, toolCallId, toolName: "stop_me", ...more });
    await call("tc_now");
    await call("tc_later", { startsIn: 300 });
    await call("tc_running", { status: "running" });
    await call("tc_other", { toolName: "go_on" });
    await world.tools.pauseTool(A, "stop_me");
    expect(await stateOf("tc_now")).toMatchObject({ out: true, status: "queued" });
    expect(await stateOf("tc_later")).toMatchObject({ out: true });
    expect(await stateOf("tc_running")).toMatchObject({ out: false, status: "running" });
    expect(await stateOf("tc_other")).toMatchObject({ out: false });
    expect(await world.tools.getTool(A, "stop_me")).toMatchObject({ status: "paused", version: 1 });
    world.doorbell.rings.length = 0;
    await world.tools.resumeTool(A, "stop_me");
    expect(await stateOf("tc_now")).toEqual({ out: false, later: false, due: true, status: "queued" });
    expect(await stateOf("tc_later")).toEqual({ out: false, later: true, due: true, status: "queued" });
    expect(world.doorbell.rings).toEqual(["registry", "queued"]);
    expect(await world.tools.getTool(A, "stop_me")).toMatchObject({ status: "active" });
  });

  test("[API-4-E1] a new version of a paused tool is paused; pausing and resuming twice is the same as once", async () => {
    await world.tools.upsertTool(A, sampleTool("still"));
    await world.tools.pauseTool(A, "still");
    await world.tools.pauseTool(A, "still");
    await world.tools.upsertTool(A, sampleTool("still", { description: "new" }));
    expect(await world.tools.getTool(A, "still")).toMatchObject({ status: "paused", version: 2 });
    await world.tools.resumeTool(A, "still");
    await world.tools.resumeTool(A, "still");
    expect(await world.tools.getTool(A, "still")).toMatchObject({ status: "active", version: 2 });
  });

  test("a tool that does not exist cannot be paused, resumed or deleted", async () => {
    for (const name of ["nobody", "no such name", "a\u0000b"]) {
      await expect(world.tools.pauseTool(A, name)).rejects.toMatchObject({ code: "not_found" });
      await expect(world.tools.resumeTool(A, name)).rejects.toMatchObject({ code: "not_found" });
      await expect(world.tools.deleteTool(A, name)).rejects.toMatchObject({ code: "not_found" });
    }
  });
});

describe("deleting", () => {
  test("[UTP-5.2-E4] a deleted tool is gone from reads; its versions stay", async () => {
    await world.tools.upsertTool(A, sampleTool("gone"));
    await world.tools.deleteTool(A, "gone");
    expect(await world.tools.getTool(A, "gone")).toBeUndefined();
    expect((await world.tools.listTools(A, { limit: 500 })).items.map((tool) => tool.toolName)).not.toContain("gone");
    expect(await versionsOf("gone")).toEqual([1]);
    await expect(world.tools.deleteTool(A, "gone")).rejects.toMatchObject({ code: "not_found" });
  });

  test("[UTP-5.2-E4] a deleted name is free for anybody, and its versions go on counting", async () => {
    await world.tools.upsertTool(A, sampleTool("phoenix"), { source: "old" });
    await world.tools.deleteTool(A, "phoenix", { byProgram: true });
    expect(
      await world.tools.upsertTool(A, sampleTool("phoenix", { description: "new" }), { source: "new" }),
    ).toMatchObject({
      outcome: "created",
      version: 2,
    });
    expect(await world.tools.getTool(A, "phoenix")).toMatchObject({ status: "active", source: "new", version: 2 });
    await world.tools.deleteTool(A, "phoenix");
    const back = await world.tools.upsertTool(A, sampleTool("phoenix", { description: "new" }));
    expect(back).toMatchObject({ outcome: "created", version: 2 });
    expect(await versionsOf("phoenix")).toEqual([2, 1]);
  });

  test("[UTP-5.2-E5] the engine's own tools cannot be deleted", async () => {
    const project = "proj_internal";
    await world.projects.createProject({ project_id: project, title: "t" }, "me");
    await expect(world.tools.deleteTool(project, "fork_join")).rejects.toMatchObject({ code: "bad_request" });
    expect(await world.tools.getTool(project, "fork_join", true)).toMatchObject({ status: "active" });
  });
});

describe("[HTTP-4-1] what came from another machine", () => {
  const options = { source: "openapi:far", waits: true } as const;
  const upsert = (more: JsonObject = {}) => world.tools.upsertTool(A, sampleTool("far", more), options);

  test("a new tool waits: it cannot be called, it is listed as pending, and accepting it puts it in force", async () => {
    expect(await upsert()).toMatchObject({ outcome: "pending", version: 1, inForce: undefined });
    expect(await upsert()).toMatchObject({ outcome: "pending", version: 1 });
    expect(await world.tools.getTool(A, "far")).toBeUndefined();
    expect(await world.tools.findTool(A, "far")).toMatchObject({
      status: "pending",
      pending: { version: 1, source: "openapi:far" },
    });
    const { items } = await world.tools.listTools(A, { pending: true });
    expect(items.map(({ toolName, status }) => [toolName, status])).toEqual([["far", "pending"]]);
    expect(await world.tools.acceptTool(A, "far")).toMatchObject({ status: "active", version: 1, pending: undefined });
  });

  test("every change waits, and the accepted version stays in force", async () => {
    expect(await upsert()).toMatchObject({ outcome: "unchanged" });
    expect(await upsert({ description: "new" })).toMatchObject({ outcome: "pending", version: 2 });
    expect(await world.tools.getTool(A, "far")).toMatchObject({
      version: 1,
      status: "active",
      pending: { version: 2, changes: [expect.objectContaining({ field: "description", to: "new" })] },
    });
    expect(await world.tools.acceptTool(A, "far", 2)).toMatchObject({ version: 2, definition: { description: "new" } });
  });

  test("a name of another program is a conflict, also while it would wait", async () => {
    await world.tools.upsertTool(A, sampleTool("near"), { source: "host:near" });
    await expect(world.tools.upsertTool(A, sampleTool("near", { description: "x" }), options)).rejects.toMatchObject({
      code: "conflict",
    });
  });
});
