// Calls with large arguments are claimed a few at a time: what one answer of the database has is bounded in bytes.

import { resultFor, startTestEngine, weighAnswers } from "@toolplane/testkit";
import { expect, test } from "vitest";

const MB = 1024 * 1024;
const COUNT = 40;
const CLAIM = { target: "test", holder: "service", max: 256 } as const;

test("[SEC-memory-claims] a claim takes a few megabytes; the rest stays queued, as if never taken, and comes later", async () => {
  await using t = await startTestEngine();
  const { engine, projectId } = t;
  const made: string[] = [];
  for (let n = 0; n < COUNT; n++) {
    const asked = { projectId, toolName: "safe", arguments: { n, text: "x".repeat(500_000) } };
    made.push((await engine.calls.dispatch(asked)).toolCallId);
  }
  const answers = weighAnswers(engine);
  const taken: string[] = [];
  const claims: number[] = [];
  while (taken.length < COUNT) {
    const calls = await engine.calls.claim({ ...CLAIM, projectId }, 10_000);
    claims.push(calls.length);
    for (const call of calls) {
      expect(call.cardBody.length).toBeGreaterThan(500_000);
      expect(call.attempt).toBe(1);
      taken.push(call.facts.toolCallId);
      expect(await engine.calls.settle(resultFor(call))).toMatchObject({ status: "success" });
    }
  }
  expect(taken.toSorted()).toEqual(made.toSorted());
  expect(Math.max(...answers.map(({ bytes }) => bytes))).toBeLessThan(10 * MB);
  expect(Math.max(...claims)).toBeLessThanOrEqual(18);
});
