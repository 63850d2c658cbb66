// How many tasks one fork_join takes: 8 unless the project says otherwise; the model is told, and whoever asks for more is
// refused before anything is made - in a turn, by a direct call over HTTP and in process alike.
// Doors: HTTP, in process

import { batchIdOf } from "@toolplane/engine";
import { isToolplaneError, type JsonObject } from "@toolplane/protocol";
import { modelToolSpec } from "@toolplane/protocol/agents";
import { meddle, queryTestDatabase } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { tasks } from "./fork.ts";
import { requestOver } from "./pmo-http.ts";
import { LEFT_BEHIND } from "./pmo-world.sql.ts";
import { BOSS, type PmoWorld, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

const http = async (world: PmoWorld, method: string, path: string, body: object) => {
  const { secret } = await world.engine.tokens.create({ role: "admin" });
  return requestOver(world, secret, method, path, body);
};

/** What a model is told about the tasks. */
const shownMost = async (world: PmoWorld): Promise<unknown> => {
  const [known] = await world.engine.definitions.resolve([{ projectId: PROJECT, toolName: "fork_join" }]);
  if (known === undefined) throw new RangeError("there is no fork_join");
  const { properties } = modelToolSpec(known.definition).function.parameters as {
    readonly properties: { readonly tasks: { readonly maxItems?: unknown } };
  };
  return properties.tasks.maxItems;
};

/** What each door answers with for so many tasks. */
const refusals = async (world: PmoWorld, count: number): Promise<readonly unknown[]> => {
  const args = { tasks: tasks(count) };
  const codeOf = (error: unknown): unknown => (isToolplaneError(error) ? `${error.code}: ${error.message}` : error);
  const inTurn = await world.ask("fork_join", args).then(() => undefined, codeOf);
  const direct = await world.engine.calls
    .dispatch({ projectId: PROJECT, toolName: "fork_join", arguments: args, agentId: BOSS })
    .then(() => undefined, codeOf);
  const over = await http(world, "POST", "/calls", { tool_name: "fork_join", arguments: args, agent_id: BOSS });
  const { error } = over.body;
  return [inTurn, direct, error === undefined ? undefined : `${error.code}: ${error.message}`];
};

test("[LIM-delegated] open turns that agents gave to others are bounded for each project; one that ends makes room", async () => {
  await using world = await startPmoWorld();
  await http(world, "PATCH", "", { limits: { delegated_turns: 3 } });
  const give = async (toolName: string, args: JsonObject) => {
    const { toolCallId } = await world.engine.calls.dispatch({
      projectId: PROJECT,
      toolName,
      arguments: args,
      agentId: BOSS,
    });
    await world.serve();
    return toolCallId;
  };
  const refusalOf = async (toolCallId: string) => (await world.resultOf(toolCallId)).error?.code;
  const first = await give("fork_join", { tasks: tasks(2) });
  const [child] = (await world.engine.batches.get({ projectId: PROJECT, batchId: batchIdOf(first) }))?.tasks ?? [];
  expect(await refusalOf(await give("fork_join", { tasks: tasks(2) }))).toBe("rate_limited");
  expect((await world.resultOf(await give("delegate_async", WORKER))).status).toBe("success");
  expect(await refusalOf(await give("delegate_async", WORKER))).toBe("rate_limited");
  await world.finish(child?.agentId ?? "");
  expect((await world.resultOf(await give("delegate_async", WORKER))).status).toBe("success");
});

describe("the tasks of one fork_join", () => {
  test("[UTP-11.6-D1] are at most 8, and the model is told", async () => {
    await using world = await startPmoWorld();
    const before = await queryTestDatabase(world.test.database.url, LEFT_BEHIND);
    expect(await shownMost(world)).toBe(8);
    const refusal = "bad_request: fork_join: invalid args.tasks: must have at most 8 items";
    expect(await refusals(world, 9)).toEqual([refusal, refusal, refusal]);
    await world.serve();
    expect((await queryTestDatabase(world.test.database.url, LEFT_BEHIND))[0]?.agents).toBe(before[0]?.agents);
  });

  test("[UTP-11.6-D1] are as many as the project's setting says, over HTTP and in process", async () => {
    await using world = await startPmoWorld();
    const patched = await http(world, "PATCH", "", { limits: { fork_join_tasks: 12 } });
    expect(patched.body).toMatchObject({ limits: { fork_join_tasks: 12 } });
    expect(await shownMost(world)).toBe(12);
    expect(await refusals(world, 12)).toEqual([undefined, undefined, undefined]);
    await world.engine.projects.patchProject(PROJECT, { limits: { fork_join_tasks: 2 } });
    expect(await world.engine.projects.getProject(PROJECT)).toMatchObject({ limits: { fork_join_tasks: 2 } });
    expect(await shownMost(world)).toBe(2);
  });

  test.each([
    [{ limits: { fork_join_task: 3 } }, "fork_join_task"],
    [{ limits: { fork_join_tasks: 0 } }, "fork_join_tasks"],
    [{ limits: { fork_join_tasks: 1_001 } }, "fork_join_tasks"],
  ])("[UTP-11.6-D1] %j is refused by name", async (patch, name) => {
    await using world = await startPmoWorld();
    const { status, body } = await http(world, "PATCH", "", patch);
    expect([status, body.error.code]).toEqual([400, "bad_request"]);
    expect(body.error.message).toContain(name);
  });

  test("[UTP-11.6-D1] a project from before the setting is brought up to it", async () => {
    await using world = await startPmoWorld();
    await meddle(world.test, "forgetMostTasks");
    const older = await world.test.another();
    const [known] = await older.definitions.resolve([{ projectId: PROJECT, toolName: "fork_join" }]);
    expect(JSON.stringify(known?.definition)).not.toContain("maxItems");
    expect(await older.projects.renewTools()).toBe(1);
    expect(await older.projects.renewTools()).toBe(0);
    expect(await shownMost(world)).toBe(8);
  });
});
