// Claims of a service that belongs to every project.

import { type Engine, systemClock } from "@toolplane/engine";
import { startTestEngine, toolUpload, until } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";

const TARGET = "everywhere";
const HOLDER = "a service of all";

const addProject = async (engine: Engine, projectId: string, target = TARGET): Promise<void> => {
  await engine.projects.createProject({ project_id: projectId, title: projectId, bootstrap: false }, "sys.test");
  await engine.tools.upsertTool(projectId, toolUpload({ name: "safe", target, options: { retry: "safe" } }));
};

const dispatch = async (engine: Engine, projectId: string, count: number): Promise<void> => {
  await Promise.all(
    Array.from({ length: count }, () => engine.calls.dispatch({ projectId, toolName: "safe", arguments: {} })),
  );
};

const countByProject = (
  claimed: readonly { readonly facts: { readonly projectId: string } }[],
): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { facts } of claimed) counts[facts.projectId] = (counts[facts.projectId] ?? 0) + 1;
  return counts;
};

const claim = (engine: Engine, max: number, waitMs = 0, signal?: AbortSignal) =>
  engine.calls.claimAcross({ target: TARGET, holder: HOLDER, max }, waitMs, signal);

describe("[UP-8-1] one claim takes from every project", () => {
  test("each gets a share, and other targets are left alone", async () => {
    await using test = await startTestEngine({ tools: [] });
    const { engine } = test;
    for (const name of ["a", "b", "c"]) await addProject(engine, name);
    await addProject(engine, "other", "elsewhere");
    await dispatch(engine, "a", 20);
    await dispatch(engine, "b", 2);
    await dispatch(engine, "c", 1);
    await dispatch(engine, "other", 5);
    expect(countByProject(await claim(engine, 9))).toEqual({ a: 3, b: 2, c: 1 });
    expect(countByProject(await claim(engine, 9))).toEqual({ a: 9 });
    expect(countByProject(await claim(engine, 256))).toEqual({ a: 8 });
    expect(await claim(engine, 9)).toEqual([]);
  });

  test("[UP-8-2] with more projects than fit, a busy one does not keep the others waiting", async () => {
    await using test = await startTestEngine({ tools: [] });
    const { engine } = test;
    const names = ["p1", "p2", "p3", "p4", "p5"];
    for (const name of names) await addProject(engine, name);
    await dispatch(engine, "p1", 50);
    for (const name of names.slice(1)) await dispatch(engine, name, 1);
    const seen = new Set<string>();
    for (let round = 0; round < 3; round += 1)
      for (const name of Object.keys(countByProject(await claim(engine, 2)))) seen.add(name);
    expect([...seen].sort()).toEqual(names);
  });

  test("what is for later, paused or past its queue is not taken", async () => {
    await using test = await startTestEngine({ tools: [] });
    const { engine } = test;
    for (const name of ["later", "paused"]) await addProject(engine, name);
    const notBeforeMs = Date.now() + 3_600_000;
    await engine.calls.dispatch({ projectId: "later", toolName: "safe", arguments: {}, notBeforeMs });
    await dispatch(engine, "paused", 1);
    await engine.tools.pauseTool("paused", "safe");
    expect(await claim(engine, 9)).toEqual([]);
    await engine.tools.resumeTool("paused", "safe");
    expect(countByProject(await claim(engine, 9))).toEqual({ paused: 1 });
  });
});

describe("waiting", () => {
  test("[UP-8-3] a ring wakes it; until then it asks once a second whatever the number of projects", async () => {
    const slept: number[] = [];
    const clock = {
      ...systemClock,
      sleep: (ms: number, signal?: AbortSignal) => {
        slept.push(ms);
        return systemClock.sleep(ms, signal);
      },
    };
    await using test = await startTestEngine({ tools: [], clock });
    const { engine } = test;
    for (let index = 0; index < 10; index += 1) await addProject(engine, `p${index}`);
    const before = engine.db.stats().statements;
    slept.length = 0;
    const waiting = claim(engine, 5, 60_000);
    await until("it to wait", () => slept.includes(1_000));
    // One look for ten projects.
    expect(engine.db.stats().statements - before).toBe(1);
    await dispatch(engine, "p7", 1);
    expect(countByProject(await waiting)).toEqual({ p7: 1 });
  });

  test("the signal and the end of the engine let it go", async () => {
    await using test = await startTestEngine({ tools: [] });
    const { engine } = test;
    const over = new AbortController();
    const one = claim(engine, 5, 60_000, over.signal);
    over.abort();
    expect(await one).toEqual([]);
    const two = claim(engine, 5, 60_000);
    await engine.close();
    expect(await two.catch(() => [])).toEqual([]);
  });

  test("[UP-8-4] whoever asks who serves a project hears of it", async () => {
    await using test = await startTestEngine({ tools: [] });
    const { engine } = test;
    await claim(engine, 1);
    expect(engine.calls.services("any", TARGET)).toMatchObject([{ target: TARGET, holder: HOLDER }]);
    expect(engine.calls.services("any", "another")).toEqual([]);
  });
});
