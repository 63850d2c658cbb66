// Services that never lease, under limits: the plane holds their commands back and sends each once, when its gate lets it pass.

import { HEADERS } from "@toolplane/protocol";
import {
  codeOf,
  createMemoryCarrier,
  eventually,
  letPass,
  type MemoryCarrier,
  startTestEngine,
  type TestEngine,
  toolUpload,
} from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

/** A look at the held commands comes to this project after all others. */
const LAST_PROJECT = "zz-last";

let t: TestEngine;
let carrier: MemoryCarrier;
beforeAll(async () => {
  carrier = createMemoryCarrier({ republishSeconds: 600 });
  t = await startTestEngine({ carrier, tools: [] });
  await t.engine.projects.createProject({ project_id: LAST_PROJECT, title: "Last", bootstrap: false }, "sys.test");
  await register("probe", { concurrency: 100 }, LAST_PROJECT);
  // A second process, which may send as well.
  await t.another({ carrier });
});
afterAll(() => t[Symbol.asyncDispose]());

const register = (name: string, options: object, projectId = t.projectId) =>
  t.engine.tools.upsertTool(
    projectId,
    toolUpload({ name, target: name, options: { service: "plain", ...options } as Record<string, unknown> }),
  );

const ask = async (toolName: string, more: object = {}): Promise<string> =>
  (await t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {}, ...more })).toolCallId;
const askMany = (toolName: string, count: number, more: object = {}) =>
  Promise.all(Array.from({ length: count }, () => ask(toolName, more)));

const sentOf = (ids: readonly string[]): readonly string[] =>
  carrier.commands.flatMap(({ headers }) => {
    const id = headers[HEADERS.toolCallId] ?? "";
    return ids.includes(id) ? [id] : [];
  });
const untilSent = (ids: readonly string[], count: number) => eventually(() => sentOf(ids).length === count);

/**
 * Two commands that were asked for later and held like the others have left, one after the other: since then a whole look has come to
 * every other project, and what it did not send is held.
 */
const untilLooked = async (): Promise<void> => {
  for (let times = 0; times < 2; times++) await untilSent([await ask("probe", { projectId: LAST_PROJECT })], 1);
};

/** As a service that never leased reports. */
const finish = (toolCallId: string, name: string, given: object = { status: "success", result: {} }) =>
  t.engine.calls.settle({ projectId: t.projectId, toolCallId, actorId: `tool.${name}`, outcome: { given } as never });

const statusOf = async (toolCallId: string) =>
  (await t.engine.calls.get({ projectId: t.projectId, toolCallId })).status;

test("[LIM-plain-1] so many commands of a tool are out at once, and the end of a call sends the next", async () => {
  await register("two", { concurrency: 2 });
  const ids = await askMany("two", 5);
  await untilSent(ids, 2);
  await untilLooked();
  const [first, second] = sentOf(ids) as [string, string];
  expect(sentOf(ids)).toHaveLength(2);
  expect(await Promise.all(ids.map(statusOf))).toEqual(
    ids.map((id) => (id === first || id === second ? "running" : "queued")),
  );
  const held = ids.find((id) => id !== first && id !== second) ?? "";
  expect(await t.engine.calls.heldBack({ projectId: t.projectId, toolCallId: held })).toMatchObject({
    toolName: "two",
    blockedBy: "concurrency",
    running: 2,
  });
  await finish(first, "two");
  await untilSent(ids, 3);
  // A deadline frees a slot as well; it counts from when the command was sent.
  await letPass(t, second, "run");
  await t.engine.expire();
  expect(await statusOf(second)).toBe("timeout");
  await untilSent(ids, 4);
  // A canceled call still runs: its slot is free when its late result comes.
  const third = sentOf(ids)[2] ?? "";
  await t.engine.calls.cancel({ projectId: t.projectId, toolCallId: third });
  await untilLooked();
  expect(sentOf(ids)).toHaveLength(4);
  expect(await codeOf(finish(third, "two"))).toBe("already_settled");
  await untilSent(ids, 5);
  for (const id of sentOf(ids).slice(3)) await finish(id, "two");
  expect(new Set(sentOf(ids)).size).toBe(5);
});

test("[LIM-plain-1] a service that leases a command that was sent runs it once, when its tool has a rate", async () => {
  await register("leased", { retry: "safe", rate: { limit: 100, per_seconds: 1 } });
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "leased", arguments: {} });
  await untilSent([made.toolCallId], 1);
  expect(await t.engine.calls.lease({ ...made, projectId: t.projectId, holder: "h" })).toMatchObject({ once: true });
});

/** `phase status attempt` of each event of a call. */
const lifeOf = async (toolCallId: string): Promise<readonly string[]> =>
  (await t.engine.events.read(t.projectId, "0", 10_000))
    .map(({ payload }) => JSON.parse(payload) as Readonly<Record<string, unknown>>)
    .filter((event) => event.tool_call_id === toolCallId)
    .map(({ phase, status, attempt }) => [phase, status, attempt].join(" "));

test("[ENG-events-1] a held command that is sent is told, and so is a sent one that takes a slot of a new limit", async () => {
  await register("told", { concurrency: 1 });
  const [first = "", second = ""] = [await ask("told"), await ask("told")];
  await untilSent([first], 1);
  await untilLooked();
  expect(await lifeOf(first)).toEqual(["dispatched queued 0", "leased running 0"]);
  expect(await lifeOf(second)).toEqual(["dispatched queued 0"]);
  await finish(first, "told");
  await untilSent([second], 1);
  await finish(second, "told");
  expect(await lifeOf(second)).toEqual(["dispatched queued 0", "leased running 0", "settled success 0"]);
  await register("counted", {});
  const sent = await ask("counted");
  await untilSent([sent], 1);
  await register("counted", { concurrency: 1 });
  expect(await lifeOf(sent)).toEqual(["dispatched queued 0", "leased running 0"]);
  await finish(sent, "counted");
});

test("[LIM-plain-1] a rate spreads the commands, and a held call cannot have a result", async () => {
  await register("slow", { rate: { limit: 1, per_seconds: 3_600, burst: 2 } });
  const ids = await askMany("slow", 3);
  await untilSent(ids, 2);
  await untilLooked();
  expect(sentOf(ids)).toHaveLength(2);
  const held = ids.find((id) => !sentOf(ids).includes(id)) ?? "";
  await expect(finish(held, "slow")).rejects.toMatchObject({ code: "lease_lost" });
  for (const id of sentOf(ids)) await finish(id, "slow");
  await untilLooked();
  expect(sentOf(ids)).toHaveLength(2);
  // Without the limit it passes.
  await register("slow", {});
  await untilSent(ids, 3);
  expect(sentOf(ids).at(-1)).toBe(held);
});

test("[LIM-plain-1] a limit that is set holds for what was sent before; a paused tool and a call for later wait", async () => {
  await register("late", {});
  const before = await ask("late");
  await untilSent([before], 1);
  await t.engine.tools.pauseTool(t.projectId, "late");
  const paused = await ask("late");
  await register("late", { concurrency: 1 });
  await t.engine.tools.resumeTool(t.projectId, "late");
  const later = await ask("late", { notBeforeMs: (await t.engine.databaseNow()) + 200 });
  await t.engine.expire();
  await untilLooked();
  expect(sentOf([before, paused, later])).toEqual([before]);
  await finish(before, "late");
  await untilSent([paused], 1);
  await finish(paused, "late");
  await eventually(async () => {
    await t.engine.expire();
    return sentOf([later]).length === 1;
  });
  expect(sentOf([before, paused, later])).toEqual([before, paused, later]);
});

test("[LIM-plain-1] a command that was sent for later takes no slot before its time", async () => {
  await register("planned", {});
  const tomorrow = await ask("planned", { notBeforeMs: (await t.engine.databaseNow()) + 86_400_000 });
  await register("planned", { concurrency: 1 });
  expect(await statusOf(tomorrow)).toBe("queued");
  const today = await ask("planned");
  await untilSent([today], 1);
  expect(await statusOf(today)).toBe("running");
});

test("[LIM-plain-1] a breaker holds such tools too, and so do the slots of a project", async () => {
  await register("frail", { breaker: { failure_rate: 0.5, window_seconds: 600, open_seconds: 600 } });
  const ids = await askMany("frail", 5);
  await untilSent(ids, 5);
  const error = { code: "upstream_unavailable", message: "away" };
  for (const id of ids) await finish(id, "frail", { status: "failed", error });
  await expect(ask("frail")).rejects.toMatchObject({ code: "breaker_open" });
  const projectId = "small";
  await t.engine.projects.createProject({ project_id: projectId, title: "Small", bootstrap: false }, "sys.test");
  await t.engine.projects.patchProject(projectId, { limits: { concurrency: 1 } });
  await register("shared", {}, projectId);
  const shared = await askMany("shared", 2, { projectId });
  await untilSent(shared, 1);
  await untilLooked();
  const [first = ""] = sentOf(shared);
  expect(sentOf(shared)).toHaveLength(1);
  await t.engine.calls.cancel({ projectId, toolCallId: first });
  const late = { projectId, toolCallId: first, actorId: "tool.shared" };
  expect(await codeOf(t.engine.calls.settle({ ...late, outcome: { given: { status: "success", result: 1 } } }))).toBe(
    "already_settled",
  );
  await untilSent(shared, 2);
});
