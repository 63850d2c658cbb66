// Two engines, everything that can happen to calls in a random order, and what was observed judged afterwards.
// The seed is in the title of a failure; the same seed takes the same decisions, though the database schedules them.

import type { LeasedCall } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import { meddle, resultFor, startTestEngine, withClient } from "@toolplane/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";

// What a row of any state must never look like.
const IMPOSSIBLE = `
select tool_call_id, status from state.calls
 where (settled_at is null) <> (status in ('queued', 'running', 'awaiting_approval'))
    or (settled_at is null) <> (due_at is not null)
    or (settled_at is null) <> (result_card_id is null)
    or (status = 'queued' and lease_id is not null)
    or (status = 'running' and lease_id is null)`;

const RESULT_CARDS_TWICE = `
select tool_call_id from cards.cards where type = 'tool.result' group by tool_call_id having count(*) > 1`;

const ACTS = [
  "dispatch",
  "dispatch",
  "claim",
  "claim",
  "beat",
  "release",
  "settle",
  "settle",
  "plain",
  "cancel",
  "lapse",
  "expire",
] as const;
const move = fc.record({
  act: fc.constantFrom(...ACTS),
  engine: fc.nat(1),
  tool: fc.constantFrom("safe", "unsafe"),
  key: fc.option(fc.nat(40), { nil: undefined }),
  which: fc.nat(1_000),
});
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

// What an act that came too late is told.
const TOO_LATE = ["lease_lost", "already_settled"];

test.each([20_261, 20_262, 20_263])(
  "[INV-I1-interleaved] [INV-I6-interleaved] [INV-I12-interleaved] seed %i",
  async (seed) => {
    await using t = await startTestEngine();
    const engines = [t.engine, await t.another()];
    const { projectId } = t;
    const made: string[] = [];
    const idsOfKey = new Map<string, Set<string>>();
    const leases: LeasedCall[] = [];
    const released = new Set<LeasedCall>();
    const ends: string[] = [];

    const recent = <T>(list: readonly T[], which: number): T | undefined =>
      list.slice(-40)[which % Math.min(40, list.length)];

    await withClient(t, async (client) => {
      const play = async ({ act, engine, tool, key, which }: Move): Promise<void> => {
        const { calls, expire } = engines[engine] ?? t.engine;
        const lease = recent(leases, which);
        const toolCallId = recent(made, which);
        const held = lease === undefined ? undefined : { ...lease.facts, leaseId: lease.lease.id };
        if (act === "expire") await expire(50);
        else if (act === "dispatch") {
          const idempotencyKey = key === undefined ? undefined : `key-${key}`;
          const call = await calls.dispatch({ projectId, toolName: tool, arguments: {}, idempotencyKey });
          if (!call.idempotent) made.push(call.toolCallId);
          if (key === undefined) return;
          const ids = idsOfKey.get(`${tool} ${key}`) ?? new Set();
          idsOfKey.set(`${tool} ${key}`, ids.add(call.toolCallId));
        } else if (act === "claim")
          leases.push(
            ...(await calls.claim({ projectId, target: "test", holder: `h${engine}`, max: 1 + (which % 4) })),
          );
        else if (act === "plain" && toolCallId !== undefined) {
          const given = { status: "success", result: { which } };
          if (!(await calls.settle({ projectId, toolCallId, actorId: "tool.test", outcome: { given } })).idempotent)
            ends.push(toolCallId);
        } else if (act === "cancel" && toolCallId !== undefined) {
          if ((await calls.cancel({ projectId, toolCallId })).canceled) ends.push(toolCallId);
        } else if (lease === undefined || held === undefined) return;
        else if (act === "beat") await calls.heartbeat(held);
        else if (act === "lapse") await meddle(t, "lapseLease", [held.toolCallId]);
        else if (act === "release") {
          await calls.release(held);
          released.add(lease);
        } else if (act === "settle") {
          const result = { which: which % 3, lease: held.leaseId };
          if (!(await calls.settle(resultFor(lease, { result }))).idempotent) ends.push(held.toolCallId);
        }
      };

      const moves = fc.sample(move, { seed, numRuns: 1_200 });
      for (let at = 0; at < moves.length; at += 24) {
        const outcomes = await Promise.allSettled(moves.slice(at, at + 24).map(play));
        const failures = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
        for (const failure of failures)
          if (!isToolplaneError(failure) || !TOO_LATE.includes(failure.code)) throw failure;
      }

      expect(ends.length).toBeGreaterThan(50);
      expect(new Set(ends).size).toBe(ends.length);
      for (const ids of idsOfKey.values()) expect(ids.size).toBe(1);
      const startedUnsafe = leases.filter((one) => one.facts.toolName === "unsafe" && !released.has(one));
      expect(new Set(startedUnsafe.map(({ facts }) => facts.toolCallId)).size).toBe(startedUnsafe.length);
      expect((await client.query(IMPOSSIBLE)).rows).toEqual([]);
      expect((await client.query(RESULT_CARDS_TWICE)).rows).toEqual([]);
    });
  },
);
