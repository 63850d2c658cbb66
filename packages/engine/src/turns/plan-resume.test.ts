import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planResume, type WaitedCall } from "./plan-resume.ts";

const waited = (index: number, more: Partial<WaitedCall> = {}): WaitedCall => ({
  ord: 1,
  tool_call_id: `call_${index}`,
  step_id: "step_1",
  status: "queued",
  settled: false,
  applied: false,
  released: false,
  result_card_id: null,
  approval_hash: null,
  card_hash: null,
  body: null,
  step_card_ids: null,
  step_metadata: null,
  deadline_ms: 0,
  ...more,
});

const settled = (call: WaitedCall): WaitedCall => ({
  ...call,
  status: "success",
  settled: true,
  result_card_id: `card_${call.tool_call_id}`,
  card_hash: `hash_${call.tool_call_id}`,
});

/** The calls after what was planned has been written. */
const written = (calls: readonly WaitedCall[], plan: ReturnType<typeof planResume>): WaitedCall[] =>
  calls.map((call) => ({
    ...call,
    applied: call.applied || plan.apply.some(({ tool_call_id }) => tool_call_id === call.tool_call_id),
    released: call.released || plan.release.some(({ tool_call_id }) => tool_call_id === call.tool_call_id),
  }));

describe("planResume", () => {
  test("[UTP-7.5-25] in whatever order and company results come, the box gets them once each, in the order of the calls", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }).chain((size) =>
          fc.record({
            order: fc.shuffledSubarray([...Array(size).keys()], { minLength: size, maxLength: size }),
            looks: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
          }),
        ),
        ({ order, looks }) => {
          let calls = order.map((_, index) => waited(index));
          const box: string[] = [];
          const applied: string[] = [];
          let ran = 0;
          for (const [step, index] of order.entries()) {
            calls = calls.map((call, place) => (place === index ? settled(call) : call));
            if (looks[step] === false && step < order.length - 1) continue;
            const plan = planResume(calls);
            box.push(...plan.release.map(({ tool_call_id }) => tool_call_id));
            applied.push(...plan.apply.map(({ tool_call_id }) => tool_call_id));
            expect(plan.waiting).toBe(order.length - step - 1);
            expect(plan.next.act).toBe(step === order.length - 1 ? "run" : "wait");
            if (plan.next.act === "run") ran++;
            calls = written(calls, plan);
          }
          const all = order.map((_, index) => `call_${index}`);
          expect(box).toEqual(all);
          expect(applied.toSorted()).toEqual(all);
          expect(ran).toBe(1);
          // Looked at again it has nothing to add.
          expect(planResume(calls)).toMatchObject({ apply: [], release: [] });
        },
      ),
    );
  });

  const says = (status: string, after: string, result: unknown = null): string =>
    JSON.stringify({
      content: {
        __type__: "ToolResultContent",
        status,
        after_execution: after,
        result,
        error: status === "success" ? null : { code: "c", message: "m" },
      },
    });

  test.each([
    ["none says terminate", [says("success", "suspend"), null], "run", undefined],
    ["one says terminate", [null, says("success", "terminate")], "end", "success"],
    [
      "the first failed one that says so names the reason",
      [says("success", "terminate"), says("failed", "terminate")],
      "end",
      "failed",
    ],
    [
      "an override ends it",
      [says("success", "suspend", { __cg_control: { after_execution: "terminate" } }), null],
      "end",
      "success",
    ],
    [
      "an override keeps it",
      [says("success", "terminate", { __cg_control: { after_execution: "suspend" } }), null],
      "run",
      undefined,
    ],
  ])("[UTP-D13-T1] %s", (_, bodies, act, status) => {
    const { next } = planResume(bodies.map((body, index) => ({ ...settled(waited(index)), body })));
    expect(next.act).toBe(act);
    if (next.act === "end") expect(next.primary.status).toBe(status);
  });

  test("[UTP-D14-C1] a result that cannot be read is awaited, and holds back those behind it", () => {
    const unreadable = { ...settled(waited(0)), card_hash: null };
    const plan = planResume([unreadable, settled(waited(1))]);
    expect(plan).toMatchObject({ waiting: 1, release: [], next: { act: "wait" } });
    expect(plan.unreadable).toEqual([unreadable]);
    expect(plan.apply.map(({ tool_call_id }) => tool_call_id)).toEqual(["call_1"]);
  });

  test("a step without calls runs on", () => {
    expect(planResume([])).toMatchObject({ waiting: 0, next: { act: "run" } });
  });
});
