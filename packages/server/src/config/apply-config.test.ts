import { silentLog } from "@toolplane/engine";
import type { ProjectLimits } from "@toolplane/protocol/registry";
import { startTestEngine, type TestEngine } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { applyConfig } from "./apply-config.ts";

let t: TestEngine;
beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
});
afterAll(() => t[Symbol.asyncDispose]());

/** A start of the plane with these limits in its file. */
const start = (project: string, limits: ProjectLimits) =>
  applyConfig({
    engine: t.engine,
    settings: { project, projectNamed: true, agents: [], limits },
    definitions: { tools: [], profiles: [] },
    log: silentLog,
  });
const patch = (project: string, limits: object) => t.engine.projects.patchProject(project, { limits });
const limitsOf = async (project: string) => (await t.engine.projects.getProject(project))?.limits;

const RATE = { limit: 5, per_seconds: 1 };
const BREAKER = { failure_rate: 0.5, window_seconds: 60, open_seconds: 30 };
const FILE = {
  concurrency: 4,
  rate: RATE,
  queue: 10,
  target_breaker: BREAKER,
  delegated_turns: 50,
  fork_join_tasks: 4,
};

test.each<[object, string]>([
  [
    { concurrency: null },
    "concurrency may not be less strict than 4, which the configuration file has set as limits.project.concurrency: concurrency would have no limit",
  ],
  [{ concurrency: 5 }, "limits.project.concurrency: concurrency 5 is above the file's 4"],
  [{ rate: null }, 'less strict than {"limit":5,"per_seconds":1}'],
  [{ rate: { limit: 301, per_seconds: 60, burst: 5 } }, "rate 301 in 60 s is above the file's 5 in 1 s"],
  [
    { rate: { limit: 60, per_seconds: 60 } },
    "rate.burst 60 (the limit, without a burst of its own) is above the file's 5",
  ],
  [{ rate: { limit: 5, per_seconds: 1, burst: 6 } }, "limits.project.rate: rate.burst 6 is above the file's 5"],
  [
    { rate: { limit: 6, per_seconds: 1, burst: 6 } },
    "rate.limit 6 is above the file's 5; rate.burst 6 is above the file's 5",
  ],
  [{ queue: null }, "limits.project.queue"],
  [{ queue: 11 }, "less strict than 10"],
  [{ delegated_turns: 51 }, "has set as limits.delegated_turns"],
  [{ fork_join_tasks: 5 }, "has set as limits.fork_join_tasks"],
  [
    { target_breaker: { ...BREAKER, window_seconds: 0.01 } },
    "limits.project.target_breaker: target_breaker.window_seconds 0.01 is not the file's 60, and neither is stricter",
  ],
  [{ target_breaker: { ...BREAKER, open_seconds: 1 } }, "target_breaker.open_seconds 1 is below the file's 30"],
  [{ target_breaker: { ...BREAKER, failure_rate: 0.6 } }, "target_breaker.failure_rate 0.6 is above the file's 0.5"],
  [{ queue: 3, concurrency: 5 }, "limits.project.concurrency"],
])("[LIM-ceiling-1] %j above what the file sets is refused, and nothing changes", async (limits, words) => {
  await start("held", FILE);
  const before = await limitsOf("held");
  await expect(patch("held", limits)).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringContaining(words),
    detail: {
      todo: "ask the operator to change it in the file and start the plane again; null in the file takes the limit and its ceiling away",
    },
  });
  expect(await limitsOf("held")).toEqual(before);
});

test("[LIM-ceiling-1] a person lowers a limit, raises it again up to the file's, and sets what the file leaves open", async () => {
  await start("lower", { concurrency: 4, rate: RATE });
  const lower = { concurrency: 1, rate: { limit: 60, per_seconds: 60, burst: 5 }, queue: 1_000 };
  expect(await patch("lower", lower)).toMatchObject({ limits: lower });
  expect(await patch("lower", { concurrency: 4, queue: null })).toMatchObject({
    limits: { concurrency: 4, queue: null },
  });
});

test("[LIM-ceiling-2] a start keeps what a person lowered, and takes down what is above the file", async () => {
  await start("again", { concurrency: 4, queue: 10 });
  await patch("again", { concurrency: 2 });
  await start("again", { concurrency: 4, queue: 8 });
  expect(await limitsOf("again")).toMatchObject({ concurrency: 2, queue: 8 });
  await start("again", { concurrency: 1, queue: 20 });
  expect(await limitsOf("again")).toMatchObject({ concurrency: 1, queue: 20 });
  await expect(patch("again", { concurrency: 2 })).rejects.toMatchObject({ code: "bad_request" });
});

test("[LIM-ceiling-2] a limit that is there before the file names it stays when it is stricter", async () => {
  await start("first", {});
  await patch("first", { concurrency: 2, queue: 500 });
  await start("first", { concurrency: 4, queue: 10 });
  expect(await limitsOf("first")).toMatchObject({ concurrency: 2, queue: 10 });
});

test("[LIM-ceiling-2] null in the file takes the limit and its ceiling away; a key that is left out stays", async () => {
  await start("gone", { concurrency: 4, queue: 10 });
  await start("gone", { concurrency: null });
  expect(await limitsOf("gone")).toMatchObject({ concurrency: null, queue: 10 });
  expect(await patch("gone", { concurrency: 99 })).toMatchObject({ limits: { concurrency: 99 } });
  await expect(patch("gone", { queue: 99 })).rejects.toMatchObject({ code: "bad_request" });
});
