import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunkStreamSubject, partStreamSubject, taskEventSubject, toolCommandSubject } from "./families.ts";
import { matchesPattern } from "./pattern.ts";
import * as streams from "./streams.ts";

const scope = { projectId: "demo", channelId: "public" };

describe("streams", () => {
  test("[UTP-1.3-1] names and filters", () => {
    expect(streams.streamPlan("cmd")).toMatchObject({ name: "cg_cmd_v1r4", filter: { text: "cg.v1r4.*.*.cmd.*.*.>" } });
    expect(streams.streamPlan("evt")).toMatchObject({ name: "cg_evt_v1r4", filter: { text: "cg.v1r4.*.*.evt.*.*.>" } });
  });

  test("[UTP-1.3-2] commands are kept a day, events a week", () => {
    expect(streams.streamPlan("cmd").maxAgeSeconds).toBe(86_400);
    expect(streams.streamPlan("evt").maxAgeSeconds).toBe(604_800);
  });

  test("[UTP-1.3-3] str subjects are captured by no stream, the others by their own", () => {
    const captured = (text: string) =>
      (["cmd", "evt"] as const).filter((category) => matchesPattern(streams.streamPlan(category).filter, text));
    expect(captured(chunkStreamSubject(scope, "helper"))).toEqual([]);
    expect(captured(partStreamSubject(scope, "helper"))).toEqual([]);
    expect(captured(toolCommandSubject(scope, "text", "a.b"))).toEqual(["cmd"]);
    expect(captured(taskEventSubject(scope, "helper"))).toEqual(["evt"]);
  });

  test("[UTP-1.3-4] consumer defaults", () => {
    expect(streams.CONSUMER_DEFAULTS).toEqual({
      ackWaitSeconds: 30,
      maxDeliver: 3,
      pullBatch: 1,
      maxInFlight: 1,
      fetchTimeoutSeconds: 5,
      warmUpFetchSeconds: 0.1,
      deliverPolicy: "new",
      serviceDeliverPolicy: "all",
    });
  });
});

describe("standing subscriptions", () => {
  const cases = [
    [
      streams.workerWakeupSubscription("worker_generic"),
      "cg.v1r4.*.*.cmd.agent.worker_generic.wakeup",
      "agent_worker_worker_generic_wakeup_v1r4",
    ],
    [streams.uiActionSubscription(), "cg.v1r4.*.*.cmd.sys.ui.action", "ui_worker_ui_action_v1r4"],
    [streams.pmoCommandSubscription(), "cg.v1r4.*.*.cmd.sys.pmo.>", "pmo_service_cmd_v1r4"],
    [streams.taskEventSubscription(), "cg.v1r4.*.*.evt.agent.*.task", "pmo_batch_evt_task_v1r4"],
    [streams.toolCommandSubscription("demo", "text"), "cg.v1r4.demo.*.cmd.tool.text.>", "tool_text__demo"],
  ] as const;
  test.each(cases)("[UTP-1.4-13] $pattern.text", (subscription, pattern, durable) => {
    expect([subscription.pattern.text, subscription.durable]).toEqual([pattern, durable]);
  });

  test("[UTP-1.4-13] [API-5-13] a tool's consumer hears actions of one token and of several of its own project and target", () => {
    const { pattern, durable } = streams.toolCommandSubscription(scope.projectId, "text");
    expect(durable).toBe(`tool_text__${scope.projectId}`);
    expect(matchesPattern(pattern, toolCommandSubject(scope, "text", "run"))).toBe(true);
    expect(matchesPattern(pattern, toolCommandSubject(scope, "text", "words.count"))).toBe(true);
    expect(matchesPattern(pattern, toolCommandSubject(scope, "text2", "run"))).toBe(false);
    expect(matchesPattern(pattern, toolCommandSubject({ ...scope, projectId: "other" }, "text", "run"))).toBe(false);
  });

  test("[SEC-1-1] a target or project that is not a token gets no subscription", () => {
    const refused = expect.objectContaining({ code: "protocol_violation" });
    expect(() => streams.toolCommandSubscription("demo", "*")).toThrow(refused);
    expect(() => streams.toolCommandSubscription("*", "text")).toThrow(refused);
  });

  test("[NATS-SEC-1] no two pairs of project and target share a durable", () => {
    const names = fc.stringMatching(/^[ab_-]{1,5}$/);
    const pair = fc.tuple(names, names);
    fc.assert(
      fc.property(pair, pair, ([p1, t1], [p2, t2]) => {
        const one = streams.tryToolCommandSubscription(p1, t1)?.durable;
        const other = streams.tryToolCommandSubscription(p2, t2)?.durable;
        if (one === undefined || one !== other) return;
        expect([p1, t1]).toEqual([p2, t2]);
      }),
      { numRuns: 5_000 },
    );
    expect(() => streams.toolCommandSubscription("c", "a__b")).toThrow("cannot be served over NATS");
    expect(() => streams.toolCommandSubscription("b__c", "a")).toThrow("cannot be served over NATS");
  });
});
