// The registry as seen by a second process on the same database: what one changes, the other acts on.

import type { Engine } from "@toolplane/engine";
import { codeOf, resultFor, startTestEngine, type TestEngine, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let t: TestEngine;
let here: Engine;
let there: Engine;

beforeAll(async () => {
  t = await startTestEngine();
  here = t.engine;
  there = await t.another();
});
afterAll(() => t[Symbol.asyncDispose]());

const dispatch = (engine: Engine, toolName: string, more: object = {}) =>
  engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {}, ...more });
const versionOf = async (toolCallId: string): Promise<number> =>
  (await here.calls.get({ projectId: t.projectId, toolCallId })).toolVersion;
const claim = (engine: Engine, target: string, waitMs = 0) =>
  engine.calls.claim({ projectId: t.projectId, target, holder: "h", max: 10 }, waitMs);

describe("definitions", () => {
  test("[UTP-5.1-E3] a call is made under the newest version though the dispatcher remembers an older one, and keeps its own", async () => {
    await here.tools.upsertTool(t.projectId, toolUpload({ name: "moving", target: "moving" }));
    const before = await dispatch(there, "moving");
    await here.tools.upsertTool(
      t.projectId,
      toolUpload({ name: "moving", target: "moving", options: { timeout_seconds: 5 } }),
    );
    const after = await dispatch(there, "moving");
    expect([await versionOf(before.toolCallId), await versionOf(after.toolCallId)]).toEqual([1, 2]);
    const claimed = await claim(here, "moving");
    expect(claimed.map(({ facts }) => [facts.toolVersion, facts.timeoutSeconds])).toEqual([
      [1, 30],
      [2, 5],
    ]);
    const old = await there.definitions.resolveVersion(t.projectId, "moving", 1);
    expect(old?.definition.options).toEqual({});
  });

  test("[UTP-5.1-E3] redefining and dispatching at once: every call carries a version that was current", async () => {
    await here.tools.upsertTool(t.projectId, toolUpload({ name: "restless" }));
    const redefine = Array.from({ length: 10 }, (_, i) =>
      here.tools.upsertTool(t.projectId, toolUpload({ name: "restless", options: { timeout_seconds: i + 1 } })),
    );
    const calls = Array.from({ length: 40 }, () => dispatch(there, "restless"));
    await Promise.all(redefine);
    const outcomes = await Promise.allSettled(calls);
    const versions = new Map(
      (await here.tools.listToolVersions(t.projectId, "restless")).items.map((version) => [
        version.version,
        version.definitionHash,
      ]),
    );
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "definition_changed" });
      else {
        const view = await here.calls.get({ projectId: t.projectId, toolCallId: outcome.value.toolCallId });
        expect(view.definitionHash).toBe(versions.get(view.toolVersion));
      }
    }
  });

  test("[UTP-5.2-E4] a tool deleted by one is unknown to the other; a call made before still runs", async () => {
    await here.tools.upsertTool(t.projectId, toolUpload({ name: "leaving", target: "leaving" }));
    const made = await dispatch(there, "leaving");
    await here.tools.deleteTool(t.projectId, "leaving");
    expect(await codeOf(dispatch(there, "leaving"))).toBe("not_found");
    const [leased] = await claim(there, "leaving");
    expect(leased?.facts.toolCallId).toBe(made.toolCallId);
    if (leased !== undefined) expect(await there.calls.settle(resultFor(leased))).toMatchObject({ status: "success" });
  });
});

describe("pausing", () => {
  test("[API-4-E1] a paused tool is not offered to anybody; resuming wakes who waits in another process", async () => {
    await here.tools.upsertTools(
      t.projectId,
      ["p1", "p2"].map((name) => toolUpload({ name, target: "pausable" })),
    );
    const queued = await dispatch(there, "p1");
    await here.tools.pauseTool(t.projectId, "p1");
    const late = await dispatch(there, "p1");
    const other = await dispatch(there, "p2");
    expect((await claim(there, "pausable")).map(({ facts }) => facts.toolCallId)).toEqual([other.toolCallId]);
    const waiting = claim(there, "pausable", 30_000);
    await here.tools.resumeTool(t.projectId, "p1");
    const offered = await waiting;
    expect(offered.map(({ facts }) => facts.toolCallId).sort()).toEqual([queued.toolCallId, late.toolCallId].sort());
  });
});

describe("who may call", () => {
  test("[UTP-W17-E2] an agent deactivated by one is refused by the other, and welcome again when activated", async () => {
    await here.profiles.upsertProfile(t.projectId, { name: "P", worker_target: "pool" });
    await here.agents.upsertAgent(t.projectId, { agent_id: "helper", profile_name: "P" });
    await dispatch(there, "safe", { agentId: "helper" });
    await here.agents.deactivateAgent(t.projectId, "helper", "gone");
    expect(await codeOf(dispatch(there, "safe", { agentId: "helper" }))).toBe("invalid_source_actor");
    await here.agents.activateAgent(t.projectId, "helper");
    expect(await codeOf(dispatch(there, "safe", { agentId: "helper" }))).toBe("no error");
    expect(await codeOf(dispatch(there, "safe", { agentId: "stranger" }))).toBe("invalid_source_actor");
  });
});

describe("projects", () => {
  test("[API-4-E3] a project with an open call stays; when the call has settled it goes, for everybody", async () => {
    const { projectId } = await here.projects.createProject({ title: "Short", bootstrap: false }, "me");
    await here.tools.upsertTool(projectId, toolUpload({ name: "only" }));
    const made = await there.calls.dispatch({ projectId, toolName: "only", arguments: {} });
    expect(await codeOf(here.projects.deleteProject(projectId))).toBe("conflict");
    const [leased] = await there.calls.claim({ projectId, target: "test", holder: "h", max: 1 });
    expect(await codeOf(here.projects.deleteProject(projectId))).toBe("conflict");
    if (leased !== undefined) await there.calls.settle(resultFor(leased));
    await here.projects.deleteProject(projectId);
    expect(await codeOf(there.calls.get({ projectId, toolCallId: made.toolCallId }))).toBe("not_found");
    expect(await codeOf(there.calls.dispatch({ projectId, toolName: "only", arguments: {} }))).toBe("not_found");
  });

  test("[UTP-5.8-E4] a project that is not active takes no new calls, and finishes what it has", async () => {
    const { projectId } = await here.projects.createProject({ title: "Resting", bootstrap: false }, "me");
    await here.tools.upsertTool(projectId, toolUpload({ name: "only" }));
    await there.calls.dispatch({ projectId, toolName: "only", arguments: {} });
    await here.projects.patchProject(projectId, { status: "inactive" });
    expect(await codeOf(there.calls.dispatch({ projectId, toolName: "only", arguments: {} }))).toBe("conflict");
    const [leased] = await there.calls.claim({ projectId, target: "test", holder: "h", max: 1 });
    if (leased === undefined) throw new TypeError("the call made before is not offered");
    expect(await there.calls.settle(resultFor(leased))).toMatchObject({ status: "success" });
  });
});

describe("arguments", () => {
  test("[UTP-W20-E1] arguments are held against the tool's schema before anything is written, and not quoted", async () => {
    const parameters = {
      type: "object",
      properties: { key: { type: "string", pattern: "^[a-z]{3}$" }, n: { type: "integer" } },
      required: ["key"],
      additionalProperties: false,
    };
    await here.tools.upsertTool(t.projectId, toolUpload({ name: "strict", parameters }));
    const secret = "SK-LIVE-SECRET";
    for (const args of [{}, { key: secret }, { key: "abc", n: "1" }, { key: "abc", surprise: 1 }]) {
      const error = await dispatch(there, "strict", { arguments: args }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "bad_request" });
      expect(JSON.stringify((error as { toWire(): unknown }).toWire())).not.toContain(secret);
    }
    expect(await here.calls.list(t.projectId, { toolName: "strict" })).toEqual([]);
    expect(await dispatch(there, "strict", { arguments: { key: "abc", n: 1 } })).toMatchObject({ status: "queued" });
  });
});
