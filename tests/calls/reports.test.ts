// The protocol's two steps: write a tool.result card, report a pointer to it.

import type { LeasedCall } from "@toolplane/engine";
import { buildResult, type Card } from "@toolplane/protocol";
import {
  codeOf,
  dispatchAndClaim,
  fingerprint,
  letPass,
  resultFor,
  startTestEngine,
  TEST_ACTOR,
  type TestEngine,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

let cardNumber = 0;

const cardFor = (call: LeasedCall, result: unknown = { ok: true }) =>
  buildResult(
    {
      cardId: `card-${++cardNumber}`,
      createdAt: "2026-01-01T00:00:00.000Z",
      projectId: call.facts.projectId,
      agentTurnId: call.facts.agentTurnId,
      toolCallId: call.facts.toolCallId,
      authorId: TEST_ACTOR,
      toolName: call.facts.toolName,
      afterExecution: call.facts.afterExecution,
      toolCallMetadata: { ...call.facts.lineage },
    },
    { status: "success", result },
  );

const put = (t: TestEngine, { lease }: Pick<LeasedCall, "lease">, card: unknown) =>
  t.engine.calls.putResultCard({ projectId: t.projectId, actorId: TEST_ACTOR, leaseId: lease.id, card });

const reportOf = (call: LeasedCall, payload: unknown, more: object = {}) => ({
  projectId: call.facts.projectId,
  toolCallId: call.facts.toolCallId,
  actorId: TEST_ACTOR,
  leaseId: call.lease.id,
  payload,
  ...more,
});

test("[UTP-6.5] a card is written and reported; the same report again is idempotent", async () => {
  await using t = await startTestEngine();
  const call = await dispatchAndClaim(t, "safe");
  const { card, payload } = cardFor(call);
  await put(t, call, card);
  await put(t, call, card);
  const report = reportOf(call, payload);
  const settled = await t.engine.calls.report(report);
  expect(settled).toEqual({ toolResultCardId: card.card_id, status: "success", idempotent: false });
  expect(await t.engine.calls.report(report)).toEqual({ ...settled, idempotent: true });
});

test("[UTP-6.5-plain] a service that never leases may report while nobody holds a live lease", async () => {
  await using t = await startTestEngine({ tools: [{ name: "plain", options: { service: "plain" } }] });
  const call = await dispatchAndClaim(t, "plain");
  await t.engine.calls.release({ ...call.facts, leaseId: call.lease.id });
  const { card, payload } = cardFor(call);
  await t.engine.calls.putResultCard({ projectId: t.projectId, actorId: TEST_ACTOR, card });
  expect(await t.engine.calls.report(reportOf(call, payload, { leaseId: undefined }))).toMatchObject({
    status: "success",
  });
});

const spoil: readonly (readonly [
  string,
  (card: Card, payload: Record<string, unknown>) => readonly [unknown, unknown],
  string,
])[] = [
  ["inline result", (card, payload) => [card, { ...payload, result: { ok: true } }], "protocol_violation"],
  ["control fields", (card, payload) => [card, { ...payload, agent_turn_id: "t" }], "protocol_violation"],
  ["unknown status", (card, payload) => [card, { ...payload, status: "done" }], "invalid_status"],
  ["status differs from the card", (card, payload) => [card, { ...payload, status: "partial" }], "protocol_violation"],
  [
    "after_execution changed",
    (card, payload) => [card, { ...payload, after_execution: "terminate" }],
    "protocol_violation",
  ],
  [
    "a pointer to nothing",
    (card, payload) => [card, { ...payload, tool_result_card_id: "nothing" }],
    "protocol_violation",
  ],
  ["no pointer", (card, { tool_result_card_id: _, ...payload }) => [card, payload], "bad_request"],
];

test.each(spoil)("[UTP-6.5-report] a report with %s is refused and nothing changes", async (_, change, code) => {
  await using t = await startTestEngine();
  const call = await dispatchAndClaim(t, "safe");
  const built = cardFor(call);
  const [card, payload] = change(built.card, { ...built.payload });
  await put(t, call, card);
  const before = await fingerprint(t);
  expect(await codeOf(t.engine.calls.report(reportOf(call, payload)))).toBe(code);
  expect(await fingerprint(t)).toBe(before);
});

const wrongCards: readonly (readonly [string, (card: Card) => unknown, string])[] = [
  ["another author", (card) => ({ ...card, author_id: "tool.other" }), "protocol_violation"],
  [
    "another call",
    (card) => ({ ...card, tool_call_id: "x", metadata: { ...card.metadata, tool_call_id: "x" } }),
    "not_found",
  ],
  [
    "another tool",
    (card) => ({ ...card, metadata: { ...card.metadata, function_name: "other" } }),
    "protocol_violation",
  ],
  ["another turn", (card) => ({ ...card, metadata: { ...card.metadata, agent_turn_id: "t" } }), "protocol_violation"],
  ["another step", (card) => ({ ...card, metadata: { ...card.metadata, step_id: "s" } }), "protocol_violation"],
  ["another project", (card) => ({ ...card, project_id: "other" }), "protocol_violation"],
  [
    "another type",
    (card) => ({ ...card, type: "task.deliverable", content: { __type__: "TextContent", text: "x" } }),
    "bad_request",
  ],
  [
    "a content that is not a result",
    (card) => ({ ...card, content: { __type__: "TextContent", text: "x" } }),
    "protocol_violation",
  ],
  ["an unknown key", (card) => ({ ...card, meta: {} }), "bad_request"],
  [
    "too many bytes",
    (card) => ({ ...card, metadata: { ...card.metadata, note: "x".repeat(2 * 1024 * 1024) } }),
    "result_too_large",
  ],
];

test.each(wrongCards)(
  "[SEC-3-card] a result card with %s is refused when it is written and nothing changes",
  async (_, change, code) => {
    await using t = await startTestEngine();
    const call = await dispatchAndClaim(t, "safe");
    const before = await fingerprint(t);
    expect(await codeOf(put(t, call, change(cardFor(call).card)))).toBe(code);
    expect(await fingerprint(t)).toBe(before);
  },
);

test("[INV-I7-result] another card under the same id is a conflict", async () => {
  await using t = await startTestEngine();
  const call = await dispatchAndClaim(t, "safe");
  const { card } = cardFor(call);
  await put(t, call, card);
  const before = await fingerprint(t);
  expect(await codeOf(put(t, call, { ...card, created_at: "2026-01-02T00:00:00.000Z" }))).toBe("conflict");
  expect(await fingerprint(t)).toBe(before);
});

test("[SEC-14-report] a card of another project is not found, even with a valid pointer", async () => {
  await using t = await startTestEngine();
  await t.engine.projects.createProject({ project_id: "other", title: "Other", bootstrap: false }, "sys.test");
  const call = await dispatchAndClaim(t, "safe");
  const { card, payload } = cardFor(call);
  await put(t, call, card);
  expect(await codeOf(t.engine.calls.report({ ...reportOf(call, payload), projectId: "other" }))).toBe("not_found");
});

test("[ENG-candidate] a card that was written but not reported becomes the result when the call ends without one", async () => {
  await using t = await startTestEngine();
  for (const end of ["lease", "run", "cancel"] as const) {
    const call = await dispatchAndClaim(t, "unsafe");
    const { card } = cardFor(call, { end });
    await put(t, call, card);
    if (end === "cancel") await t.engine.calls.cancel(call.facts);
    else {
      await letPass(t, call.facts.toolCallId, end);
      await t.engine.expire();
    }
    expect(await t.engine.calls.get(call.facts)).toMatchObject({
      status: "success",
      resultCardId: card.card_id,
      settledBy: TEST_ACTOR,
    });
  }
  expect(await t.engine.deadLetters.list(t.projectId)).toEqual([]);
});

test("[ENG-candidate-zombie] a card of a replaced holder does not take the slot of the holder that counts", async () => {
  await using t = await startTestEngine();
  const zombie = await dispatchAndClaim(t, "safe");
  await letPass(t, zombie.facts.toolCallId, "lease");
  await t.engine.expire();
  const [taken] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h2", max: 1 }, 5_000);
  expect(await codeOf(put(t, zombie, cardFor(zombie, { zombie: true }).card))).toBe("lease_lost");
  if (taken === undefined) throw new RangeError("nothing was claimed");
  const settled = await t.engine.calls.settle(resultFor(taken, { result: { zombie: false } }));
  expect(await t.engine.calls.get(taken.facts)).toMatchObject({
    status: "success",
    resultCardId: settled.toolResultCardId,
  });
});
