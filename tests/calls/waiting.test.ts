// Many callers who wait for their results share statements, also for the reading at the end.

import type { LeasedCall } from "@toolplane/engine";
import { startTestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

const CALLERS = 64;
const PATIENCE_MS = 60_000;

test("64 callers who wait for their result cost less than a statement per five calls, card included", async () => {
  await using t = await startTestEngine();
  const { calls, cards, db } = t.engine;
  const settle = ({ facts, lease }: LeasedCall) =>
    calls.settle({ ...facts, leaseId: lease.id, outcome: { given: { status: "success", result: facts.toolCallId } } });
  const wait = async () => {
    const view = await calls.call({ projectId: t.projectId, toolName: "safe", arguments: {} }, PATIENCE_MS);
    return { view, card: (await cards.getCards(t.projectId, [view.resultCardId]))[0] };
  };
  const before = db.stats().statements;
  const waiting = Promise.all(Array.from({ length: CALLERS }, wait));
  let left = CALLERS;
  while (left > 0) {
    const claimed = await calls.claim(
      { projectId: t.projectId, target: "test", holder: "h", max: CALLERS },
      PATIENCE_MS,
    );
    await Promise.all(claimed.map(settle));
    left -= claimed.length;
  }
  const answers = await waiting;
  expect(answers.filter(({ view }) => view.status === "success")).toHaveLength(CALLERS);
  expect(answers.map(({ card }) => (card?.content as { readonly result: unknown } | undefined)?.result)).toEqual(
    answers.map(({ view }) => view.toolCallId),
  );
  expect(db.stats().statements - before).toBeLessThan(CALLERS / 5);
});

test("of calls asked for at the same moment, one that does not exist is not found, alone", async () => {
  await using t = await startTestEngine();
  const { projectId } = t;
  const { calls } = t.engine;
  const made = await calls.dispatch({ projectId, toolName: "safe", arguments: {} });
  const found = await Promise.allSettled([
    calls.get({ projectId, toolCallId: made.toolCallId }),
    calls.get({ projectId, toolCallId: "nobody" }),
    calls.get({ projectId: "elsewhere", toolCallId: made.toolCallId }),
    calls.get({ projectId, toolCallId: "not\u0000possible" }),
    calls.get({ projectId, toolCallId: made.toolCallId }),
  ]);
  expect(found.map((one) => one.status)).toEqual(["fulfilled", "rejected", "rejected", "rejected", "fulfilled"]);
  expect(found[1]).toMatchObject({ reason: { code: "not_found" } });
  expect(found[2]).toMatchObject({ reason: { code: "not_found" } });
});
