// The trial of a breaker that has ended, and whose end is not counted yet: its slot is free, and no second trial may have it. One database for
// all, and two engines: one of them stops between the commit of a result and its count.

import type { Engine, LeasedCall } from "@toolplane/engine";
import { resultFor, startTestEngine, type TestEngine, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const WAIT_MS = 60_000;
const BUSY = { status: "failed" as const, result: null, error: { code: "upstream_unavailable", message: "busy" } };
const BREAKER = { failure_rate: 0.5, window_seconds: 600, open_seconds: 0.05 };

let t: TestEngine;
let halting: Engine;
let halt: { readonly here: () => void; readonly until: Promise<void> } | undefined;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
  halting = await t.another({
    faults: {
      at: async (point) => {
        if (point !== "settle:before-doorbell") return;
        const { here, until: goesOn } = halt ?? {};
        here?.();
        await goesOn;
      },
    },
  });
});
afterAll(() => t[Symbol.asyncDispose]());

const makeProject = async (projectId: string, options: object, limits: object = {}): Promise<void> => {
  await t.engine.projects.createProject({ project_id: projectId, title: "Tried", bootstrap: false }, "sys.test");
  await t.engine.projects.patchProject(projectId, { limits });
  await t.engine.tools.upsertTool(
    projectId,
    toolUpload({ name: "tried", target: "tried", options: options as Record<string, unknown> }),
  );
};
const claim = (projectId: string, max: number, waitMs = 0) =>
  t.engine.calls.claim({ projectId, target: "tried", holder: "h", max }, waitMs);

/** Five runs fail, and the time of the breaker is over: the next call is its trial. */
const takeTrial = async (projectId: string): Promise<LeasedCall> => {
  const ask = () => t.engine.calls.dispatch({ projectId, toolName: "tried", arguments: {} });
  await Promise.all(Array.from({ length: 9 }, ask));
  for (let run = 0; run < 5; run++)
    for (const call of await claim(projectId, 1)) await t.engine.calls.settle(resultFor(call, BUSY));
  const trial = await claim(projectId, 9, WAIT_MS);
  expect(trial).toHaveLength(1);
  return trial[0] as LeasedCall;
};

test.each([
  ["a tool with a slot", "slot", { breaker: BREAKER, concurrency: 1 }, {}],
  ["a tool", "bare", { breaker: BREAKER }, {}],
  ["a target", "target", {}, { target_breaker: BREAKER }],
])(
  "[LIM-break-5] after a trial of %s has failed, none passes before its end is counted",
  async (_, projectId, options, limits) => {
    await makeProject(projectId, options, limits);
    const trial = await takeTrial(projectId);
    let goOn = (): void => {};
    const halted = new Promise<void>((here) => {
      halt = { here, until: new Promise((resolve) => (goOn = resolve)) };
    });
    const settling = halting.calls.settle(resultFor(trial, BUSY));
    try {
      await halted;
      expect(await claim(projectId, 9)).toEqual([]);
    } finally {
      goOn();
      halt = undefined;
      await settling;
    }
    // The breaker was open once more, and lets a trial pass after its time.
    expect(await claim(projectId, 9, WAIT_MS)).toHaveLength(1);
  },
);

test.each([
  ["a tool", "canceled-of-tool", { breaker: BREAKER }, {}],
  ["a target", "canceled-of-target", {}, { target_breaker: BREAKER }],
])(
  "[LIM-break-5] [LIM-why-2] a canceled trial of %s is named until its run is over; then the next trial passes",
  async (_, projectId, options, limits) => {
    await makeProject(projectId, options, limits);
    const trial = await takeTrial(projectId);
    await t.engine.calls.cancel(trial.facts);
    const [waiting] = await t.engine.calls.list(projectId, { status: "queued" });
    expect(await t.engine.calls.heldBack({ projectId, toolCallId: waiting?.toolCallId ?? "" })).toMatchObject({
      blockedBy: "breaker",
      running: 1,
      slots: [{ toolCallId: trial.facts.toolCallId, endedAs: "canceled" }],
    });
    const states = await t.engine.limits.list(projectId);
    expect(states.filter(({ heldBy }) => heldBy === "breaker")).toMatchObject([{ running: 1, lingering: 1 }]);
    expect(await claim(projectId, 9)).toEqual([]);
    // The service says that the run is over.
    await t.engine.calls.settle(resultFor(trial)).catch(() => {});
    expect(await claim(projectId, 9, WAIT_MS)).toHaveLength(1);
  },
);

test.each([
  ["a tool", "piles-of-tool", { breaker: BREAKER }, {}, "tried"],
  ["a target", "piles-of-target", {}, { target_breaker: BREAKER }, "target tried"],
])(
  "[LIM-break-2] while the trial of %s runs or waits, new calls are refused; the next one is let in when there is none",
  async (_, projectId, options, limits, of) => {
    await makeProject(projectId, options, limits);
    const ask = () => t.engine.calls.dispatch({ projectId, toolName: "tried", arguments: {} });
    const refusal = (what: string) => ({
      code: "breaker_open",
      message: expect.stringMatching(new RegExp(`^the breaker of ${of} has been open since .*; ${what}; `)),
      detail: { of, since: expect.any(String), closes_at: null, retry_after_seconds: 1 },
    });
    // Nothing but the trial of five failed runs.
    await Promise.all(Array.from({ length: 5 }, ask));
    for (let run = 0; run < 5; run++)
      for (const call of await claim(projectId, 1)) await t.engine.calls.settle(resultFor(call, BUSY));
    const letIn = async () => {
      const answers = await Promise.allSettled(Array.from({ length: 4 }, ask));
      return answers.filter(({ status }) => status === "fulfilled").length;
    };
    await expect.poll(letIn, { timeout: WAIT_MS }).toBe(1);
    await expect(ask()).rejects.toMatchObject(refusal("a call that was made before waits to run as its trial"));
    const [trial] = await claim(projectId, 9, WAIT_MS);
    await expect(ask()).rejects.toMatchObject(refusal("its trial runs now"));
    if (trial === undefined) throw new Error("there is no trial");
    await t.engine.calls.cancel(trial.facts);
    await expect(ask()).rejects.toMatchObject(refusal("its trial was canceled, and its service still runs it"));
    await t.engine.calls.settle(resultFor(trial)).catch(() => {});
    const notBeforeMs = (await t.engine.databaseNow()) + 600_000;
    await t.engine.calls.dispatch({ projectId, toolName: "tried", arguments: {}, notBeforeMs });
    // A call for later is no trial.
    expect(await ask()).toMatchObject({ status: "queued" });
  },
);
